//! A request's body as a whole, and what is to be known of an answer's.
//!
//! May use: status.

use crate::status::Status;
use axum::body::Body;
use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError};
use std::error::Error;

/// Reads a request's body, which `listen` has limited.
///
/// # Errors
/// 413 if it is too large; 400 if the client does not send all of it.
pub async fn read(body: Body) -> Result<Bytes, Status> {
    match body.collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) => {
            let mut cause: Option<&(dyn Error + 'static)> = Some(&error);
            while let Some(error) = cause {
                if error.is::<LengthLimitError>() {
                    return Err(Status::too_large(crate::body::MOST));
                }
                cause = error.source();
            }
            Err(Status::bad_request(format!("the body cannot be read: {error}")))
        }
    }
}

/// Marks an answer (among its extensions) whose body only waits: it is not one of the requests that may be answered at the same time,
/// or those who follow changes would leave nothing to the others.
#[derive(Clone, Copy, Debug)]
pub struct Waits;

/// The most bytes of a body, as the API server has it.
pub const MOST: usize = 3 << 20;

#[cfg(test)]
mod tests {
    use super::{Body, MOST, read};
    use http_body_util::Limited;

    #[tokio::test]
    async fn a_body_that_is_too_large_says_so() {
        let limited = |bytes: usize| Body::new(Limited::new(Body::from(vec![b' '; bytes]), MOST));
        assert_eq!(read(limited(MOST)).await.unwrap().len(), MOST);
        let status = read(limited(MOST + 1)).await.unwrap_err();
        assert_eq!(
            (status.code.as_u16(), status.message.as_str()),
            (413, "Request entity too large: limit is 3145728")
        );
    }
}

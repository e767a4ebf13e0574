//! Against a server: `INGESTER_TEST_POSTGRES_URL` names a database.

//! The rules of a kind: the rules in its struct or file, as the configuration narrows them, and the rules that only the
//! configuration has. Pure.

use super::{PolicyError, check};
use ingester_config::{Condition, EvictionRule, KeepLast, Policies};
use ingester_core::Kind;
use ingester_core::schema::Fault;
use std::fmt;

/// Where a rule is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// In the kind's struct or file. It evicts nothing.
    Kind,
    /// In the kind's struct or file. The configuration has a rule with this name, which narrows it and switches it on or off.
    Narrowed,
    /// In the configuration.
    Configuration,
}

impl Origin {
    /// Returns where the rule of this name about a kind is written.
    pub fn find(kind: &Kind, policies: &Policies, rule: &str) -> Self {
        let is_of_kind = kind.evict().iter().any(|its| its.name == rule);
        match is_of_kind {
            true if change_of(kind, policies, rule).is_some() => Origin::Narrowed,
            true => Origin::Kind,
            false => Origin::Configuration,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Origin::Kind => "kind",
            Origin::Narrowed => "kind, configuration",
            Origin::Configuration => "configuration",
        })
    }
}

/// A rule that cannot be judged: it evicts nothing.
#[derive(Debug, thiserror::Error)]
#[error("the rule `{rule}` of {kind}: {error}")]
pub struct WrongRule {
    /// Its name.
    pub rule: String,
    /// The kind's name.
    pub kind: &'static str,
    /// The reason.
    pub error: Box<PolicyError>,
}

/// The rules that the configuration has about a kind.
fn configured<'p>(kind: &Kind, policies: &'p Policies) -> &'p [EvictionRule] {
    policies.evict.get(kind.name()).map(Vec::as_slice).unwrap_or_default()
}

/// The rule of the configuration that changes the kind's rule of this name.
fn change_of<'p>(kind: &Kind, policies: &'p Policies, rule: &str) -> Option<&'p EvictionRule> {
    configured(kind, policies).iter().find(|change| change.name == rule)
}

/// All rules of a kind that can be judged, in the order in which the kind and the configuration have them, and those that cannot.
pub fn rules(kind: &Kind, policies: &Policies) -> Vec<Result<EvictionRule, WrongRule>> {
    let wrong = |name: &str, error| WrongRule { rule: name.to_owned(), kind: kind.name(), error: Box::new(error) };
    let of_kind = kind.evict().iter().map(|rule| {
        let made = || -> Result<EvictionRule, PolicyError> {
            let its = EvictionRule::of_kind(rule)?;
            let rule = match change_of(kind, policies, rule.name) {
                Some(change) => narrowed(its, change)?,
                None => its,
            };
            check(kind, &rule)?;
            Ok(rule)
        };
        made().map_err(|error| wrong(rule.name, error))
    });
    let is_own = |rule: &&EvictionRule| kind.evict().iter().all(|its| its.name != rule.name);
    let own = configured(kind, policies).iter().filter(is_own).map(|rule| {
        let made = || -> Result<EvictionRule, PolicyError> {
            ensure_bounded(kind, rule)?;
            check(kind, rule)?;
            Ok(rule.clone())
        };
        made().map_err(|error| wrong(&rule.name, error))
    });
    of_kind.chain(own).collect()
}

/// Returns the rule limited to these namespaces; if it names namespaces itself, only the ones in both lists. `None` if none is left: the
/// rule covers no object.
pub fn in_namespaces(rule: &EvictionRule, found: Vec<Box<str>>) -> Option<EvictionRule> {
    let said = &rule.condition.namespaces;
    let is_meant = |name: &String| said.is_empty() || said.contains(name);
    let namespaces: Vec<String> = found.into_iter().map(String::from).filter(is_meant).collect();
    (!namespaces.is_empty()).then(|| {
        let mut narrowed = rule.clone();
        narrowed.condition.namespaces = namespaces;
        narrowed
    })
}

/// A rule of the configuration must limit the objects that it covers. One without a limit may be a misspelled name of a rule of the kind.
fn ensure_bounded(kind: &Kind, rule: &EvictionRule) -> Result<(), PolicyError> {
    if rule.condition.is_bounded() {
        return Ok(());
    }
    let names: Vec<String> = kind.evict().iter().map(|rule| format!("`{}`", rule.name)).collect();
    Err(PolicyError::Rule(match names.is_empty() {
        true => Fault::EvictAll.to_string(),
        false => format!("{}; or name a rule of the kind to switch that: {}", Fault::EvictAll, names.join(", ")),
    }))
}

/// The kind's rule combined with the configuration's.
fn narrowed(its: EvictionRule, change: &EvictionRule) -> Result<EvictionRule, PolicyError> {
    let condition = both(its.condition, &change.condition)?;
    Ok(EvictionRule { name: its.name, condition, enforce: change.enforce })
}

/// The condition of the kind combined with the configuration's: both must hold, so no object leaves that the kind's owner did not intend.
/// Keys that would have no effect, or an unexpected one, are refused.
fn both(its: Condition, change: &Condition) -> Result<Condition, PolicyError> {
    let refused = |what: &str| {
        Err(PolicyError::Rule(format!("{what}: the configuration may only narrow a rule of the kind, not widen it")))
    };
    if its.after.is_some() && change.since.is_some() {
        return refused("`since` comes from the kind's rule, leave it out");
    }
    if change.after.is_some_and(|after| its.after.is_some_and(|said| after < said)) {
        return refused("`after` is shorter than in the kind's rule, make it as long or leave it out");
    }
    if let Some(other) =
        change.namespaces.iter().find(|name| !its.namespaces.is_empty() && !its.namespaces.contains(name))
    {
        return refused(&format!("the kind's rule does not cover the namespace `{other}`, leave it out"));
    }
    let keep_last = match (its.keep_last, &change.keep_last) {
        (Some(said), Some(wanted)) if wanted.count < said.count => {
            return refused(&format!("`keepLast.count` is less than the {} of the kind, leave it out", said.count));
        }
        (Some(said), Some(wanted)) if !wanted.by.is_empty() && wanted.by != said.by => {
            return refused("`keepLast.by` comes from the kind's rule, leave it out");
        }
        (Some(said), Some(wanted)) => Some(KeepLast { count: wanted.count, by: said.by }),
        (said, wanted) => said.or_else(|| wanted.clone()),
    };
    let selectors = [&its.namespace_selector, &change.namespace_selector];
    let selectors: Vec<&str> = selectors.into_iter().flatten().map(String::as_str).collect();
    Ok(Condition {
        when: its.when.into_iter().chain(change.when.iter().cloned()).collect(),
        after: change.after.or(its.after),
        since: change.since.clone().or(its.since),
        keep_last,
        namespaces: if change.namespaces.is_empty() { its.namespaces } else { change.namespaces.clone() },
        namespace_selector: (!selectors.is_empty()).then(|| selectors.join(",")),
        line: change.line,
    })
}

#[cfg(test)]
mod tests {
    use super::{Origin, both, in_namespaces, rules};
    use crate::fixture::MODEL;
    use ingester_config::{Condition, EvictionRule, KeepLast, Policies};
    use ingester_core::Kind;
    use ingester_core::schema;
    use ingester_sql::query::parse_label_selector;
    use std::time::Duration;

    const HOUR: Duration = Duration::from_secs(3600);

    const OF_KIND: &[schema::EvictionRule] = &[schema::EvictionRule {
        name: "finished",
        field_selector: "",
        label_selector: "phase=done",
        after: Some(HOUR),
        since: None,
        keep_last: Some((3, &["name"])),
        namespaces: &["ml", "ads"],
        namespace_selector: "tier=batch",
    }];

    const KIND: Kind = MODEL.evicting(OF_KIND);

    fn change() -> EvictionRule {
        EvictionRule { name: "finished".into(), enforce: true, ..EvictionRule::default() }
    }

    fn match_namespaces(namespaces: &[&str]) -> Condition {
        Condition { namespaces: namespaces.iter().map(|name| (*name).to_owned()).collect(), ..Condition::default() }
    }

    fn policies(rules: Vec<EvictionRule>) -> Policies {
        Policies { evict: [("Model".to_owned(), rules)].into(), ..Policies::default() }
    }

    #[test]
    fn a_rule_of_the_kind_is_dry_until_the_configuration_switches_it() {
        let none = Policies::default();
        let found = rules(&KIND, &none);
        let [Ok(dry)] = &found[..] else { panic!("{found:?}") };
        assert_eq!((dry.enforce, dry.condition.after), (false, Some(HOUR)));
        assert_eq!(Origin::find(&KIND, &none, &dry.name), Origin::Kind);
        let condition = Condition { after: Some(HOUR), ..Condition::default() };
        let own = EvictionRule { name: "old".into(), condition, enforce: false };
        let configured = policies(vec![own.clone(), change()]);
        let found = rules(&KIND, &configured);
        let [Ok(switched), Ok(added)] = &found[..] else { panic!("{found:?}") };
        assert_eq!((switched, added), (&EvictionRule { enforce: true, ..dry.clone() }, &own));
        let origin = |rule: &EvictionRule| Origin::find(&KIND, &configured, &rule.name);
        assert_eq!((origin(switched), origin(added)), (Origin::Narrowed, Origin::Configuration));
    }

    #[test]
    fn the_configuration_adds_conditions_and_takes_none_away() {
        let its = || EvictionRule::of_kind(&OF_KIND[0]).unwrap().condition;
        let none = Condition::default;
        let changed = both(
            its(),
            &Condition {
                when: parse_label_selector("tier!=gold").unwrap(),
                after: Some(2 * HOUR),
                keep_last: Some(KeepLast { count: 5, by: Vec::new() }),
                namespaces: vec!["ml".into()],
                namespace_selector: Some("team=a".into()),
                ..none()
            },
        );
        let changed = changed.unwrap();
        assert_eq!(changed.when, parse_label_selector("phase=done,tier!=gold").unwrap());
        assert_eq!((changed.after, changed.namespaces), (Some(2 * HOUR), vec!["ml".to_owned()]));
        assert_eq!(changed.keep_last, Some(KeepLast { count: 5, by: vec!["name".into()] }));
        assert_eq!(changed.namespace_selector.as_deref(), Some("tier=batch,team=a"));
        for (wrong, says) in [
            (Condition { after: Some(HOUR / 2), ..none() }, "`after` is shorter"),
            (Condition { after: Some(2 * HOUR), since: Some("update_time".into()), ..none() }, "`since`"),
            (Condition { keep_last: Some(KeepLast { count: 2, by: Vec::new() }), ..none() }, "less than the 3"),
            (Condition { keep_last: Some(KeepLast { count: 4, by: vec!["uid".into()] }), ..none() }, "`keepLast.by`"),
            (match_namespaces(&["ml", "web"]), "the namespace `web`"),
        ] {
            let error = both(its(), &wrong).unwrap_err().to_string();
            assert!(
                error.contains(says) && error.ends_with("may only narrow a rule of the kind, not widen it"),
                "{error}"
            );
        }
        // The configuration may set what the kind does not say.
        let bare = Condition { keep_last: None, after: None, namespaces: Vec::new(), ..its() };
        let more = Condition { after: Some(HOUR), since: Some("update_time".into()), ..none() };
        assert_eq!(both(bare, &more).unwrap().since(), "update_time");
    }

    #[test]
    fn a_rule_that_cannot_be_judged_is_left_out_alone() {
        let unbounded = EvictionRule { name: "finnished".into(), ..change() };
        let found = rules(&KIND, &policies(vec![unbounded]));
        let [Ok(_), Err(wrong)] = &found[..] else { panic!("{found:?}") };
        let said = wrong.to_string();
        assert!(said.starts_with("the rule `finnished` of Model: every object would leave"), "{said}");
        assert!(said.ends_with("or name a rule of the kind to switch that: `finished`"), "{said}");
    }

    #[test]
    fn a_rule_means_those_of_its_namespaces_that_are_found() {
        let rule = EvictionRule { condition: match_namespaces(&["ml", "ads"]), ..change() };
        let found = |names: &[&str]| names.iter().map(|name| Box::from(*name)).collect::<Vec<Box<str>>>();
        let named = |rule: &EvictionRule, names: &[&str]| Some(in_namespaces(rule, found(names))?.condition.namespaces);
        assert_eq!(named(&rule, &["web", "ml"]).unwrap(), ["ml"]);
        assert_eq!(named(&rule, &["web"]), None);
        assert_eq!(named(&change(), &[]), None, "no namespace is not every namespace");
        assert_eq!(named(&change(), &["web"]).unwrap(), ["web"]);
    }
}

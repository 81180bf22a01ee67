//! Meters, buckets of groups and the limits of learning as text.

use api_model::{BucketSpec, MacTableSpec, MeterSpec};

use super::{action, pairs};

/// Reads a meter: `algorithm=rfc2697,committed_rate=8000,...`.
pub(crate) fn meter(text: &str) -> Result<MeterSpec, String> {
    pairs::read(&pairs::split(text)?)
}

/// Reads how addresses are remembered: `age_s=300,limit=8192`.
pub(crate) fn mac_table(text: &str) -> Result<MacTableSpec, String> {
    pairs::read(&pairs::split(text)?)
}

/// Writes a meter as [`meter`] reads it.
pub(crate) fn format_meter(spec: &MeterSpec) -> String {
    pairs::write(spec)
}

/// Reads a bucket: its weight and watched port, if it has them, and its actions, with spaces
/// between: `weight:2 watch_port:wan decrement_ttl output:wan`.
pub(crate) fn bucket(text: &str) -> Result<BucketSpec, String> {
    let mut bucket = BucketSpec { weight: 1, watch_port: None, actions: Vec::new() };
    for word in text.split_whitespace() {
        match word.split_once(':') {
            Some(("weight", weight)) => {
                let error = || format!("expected a weight from 1 to 65535, got `{weight}`");
                bucket.weight = weight.parse().map_err(|_| error())?;
            }
            Some(("watch_port", port)) => {
                let port = port.parse().map_err(|error: api_model::NameError| error.to_string());
                bucket.watch_port = Some(port?);
            }
            _ => bucket.actions.push(action::parse(word)?),
        }
    }
    Ok(bucket)
}

/// Writes a bucket as [`bucket`] reads it.
pub(crate) fn format_bucket(bucket: &BucketSpec) -> String {
    let weight = (bucket.weight != 1).then(|| format!("weight:{}", bucket.weight));
    let watch = bucket.watch_port.as_ref().map(|port| format!("watch_port:{port}"));
    let actions = bucket.actions.iter().map(action::format);
    weight.into_iter().chain(watch).chain(actions).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_bucket_is_read_as_the_api_writes_it_and_written_as_it_is_read() {
        for (text, value) in [
            ("output:a", json!({"weight": 1, "actions": [{"output": "a"}]})),
            ("weight:3 watch_port:a decrement_ttl output:a", {
                json!({"weight": 3, "watch_port": "a", "actions": ["decrement_ttl", {"output": "a"}]})
            }),
        ] {
            let read = bucket(text).unwrap();
            assert_eq!(serde_json::to_value(&read).unwrap(), value, "{text}");
            assert_eq!(format_bucket(&read), text);
        }
        for text in ["weight:x", "weight:65536", "watch_port:", "dorp"] {
            assert!(bucket(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_meter_is_read_as_the_api_writes_it_and_written_as_it_is_read() {
        let text = "algorithm=rfc2698,unit=packets,committed_rate=1000,committed_burst=10,\
                    peak_rate=2000,peak_burst=20,yellow=remark:10,red=drop";
        let read = meter(text).unwrap();
        assert_eq!((read.peak_rate, read.excess_rate), (Some(2000), None));
        assert_eq!(format_meter(&read), text);
        let unknown = meter("algorithm=rfc1,committed_rate=1,committed_burst=1").unwrap_err();
        assert!(unknown.starts_with("unknown variant `rfc1`, expected one of"), "{unknown}");
    }

    #[test]
    fn what_is_not_said_of_learning_is_as_the_api_has_it() {
        let read = mac_table("limit=1024").unwrap();
        assert_eq!((read.age_s, read.limit), (300, 1024));
        assert!(mac_table("age=1").unwrap_err().starts_with("unknown field `age`"));
    }
}

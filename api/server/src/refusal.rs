use api_model::{Code, Invalid, Problem};
use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};

use crate::ControlError;

/// A request that is not done, and why. Becomes a [`Problem`].
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) code: Code,
    pub(crate) detail: String,
    pub(crate) pointer: Option<String>,
    pub(crate) hint: Option<String>,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, code: Code, detail: impl Into<String>) -> Self {
        Self { status, code, detail: detail.into(), pointer: None, hint: None }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    pub(crate) fn invalid(code: Code, Invalid { pointer, reason, hint }: Invalid) -> Self {
        let refusal = Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, reason);
        Self { pointer: (!pointer.is_empty()).then_some(pointer), hint, ..refusal }
    }
}

impl From<ControlError> for Refusal {
    fn from(error: ControlError) -> Self {
        let detail = error.to_string();
        match error {
            ControlError::NotFound { kind, .. } => {
                Self::new(StatusCode::NOT_FOUND, kind.not_found(), detail)
            }
            ControlError::Invalid { code, invalid } => Self::invalid(code, invalid),
            ControlError::Conflict { code, hint, .. } => {
                Self { hint, ..Self::new(StatusCode::CONFLICT, code, detail) }
            }
            ControlError::LimitExceeded { .. } => {
                Self::new(StatusCode::CONFLICT, Code::LimitExceeded, detail)
            }
            ControlError::Unavailable { code, .. } => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, code, detail)
            }
            ControlError::Internal { .. } => {
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, Code::Internal, detail)
            }
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let Self { status, code, detail, pointer, hint } = self.clone();
        let (kind, title) = (code.uri(), code.title());
        let code = code.name().to_owned();
        let problem = Problem { kind, title, status: status.as_u16(), detail, code, pointer, hint };
        let mut response = (status, Json(problem)).into_response();
        let problem_json = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(header::CONTENT_TYPE, problem_json);
        response.extensions_mut().insert(self);
        response
    }
}

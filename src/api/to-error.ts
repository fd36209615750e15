import { KeyRefused } from '../errors.ts';
import type { Operation } from '../operations/operation.ts';
import { ApiError, type ApiErrorFields, ApiStopped, describe } from './api-errors.ts';
import type { FailedAttempt } from './attempt.ts';
import type { ClientState } from './client-state.ts';

/** The error a request ends with after its last attempt: does the target fail, or does the run stop? */
export function toError(
  session: ClientState,
  operation: Operation,
  failed: FailedAttempt,
  attempts: number,
): Error {
  const { status, code, said, kind, decision } = failed;
  const origin = session.http.origin(operation.transport);
  const fields: ApiErrorFields = { operation: operation.name, origin, said, status, code, attempts };
  if (!decision.retry && decision.because === 'wait_too_long') return new ApiStopped('throttled', fields);
  switch (kind) {
    case 'key_refused':
      return new KeyRefused(
        describe(fields, 'the API refused the key'),
        'Check LEDGERLAKE_API_KEY (or the file LEDGERLAKE_API_KEY_FILE names): wrong, expired or revoked.',
      );
    case 'credits_gone':
      return new ApiStopped(kind, fields);
    case 'unreachable':
      // The attempts before it were answered, by one that was about to end: what restarts is back after a rest.
      if (session.breaker.disconnected(operation.pool)) return new ApiError('server', fields);
      session.breaker.open(operation.pool);
      return new ApiStopped(kind, fields);
    case 'throttled':
    case 'try_again':
      return new ApiStopped('throttled', fields);
    case 'rejected':
    case 'forbidden':
    case 'no_data':
    case 'too_big':
      return new ApiError(kind, fields);
    default:
      // One page that always fails is its target's problem; whether five in a row are the API's, a probe will say.
      session.breaker.exhausted(operation.pool);
      if (kind === 'slow' || kind === 'timeout') return new ApiError('slow', fields);
      return new ApiError(kind === 'node_behind' ? kind : 'server', fields);
  }
}

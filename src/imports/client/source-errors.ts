import { unavailable } from '../../kernel/index.ts';
import type { DomainError } from '../../kernel/index.ts';

/** The other server wants no requests until this time, in epoch milliseconds. */
export class SourceBusy extends Error {
  readonly until: number;
  constructor(until: number) {
    super('the other server has a limit');
    this.until = until;
  }
}

export const sourceFailed = (why: string, options?: { cause?: unknown }) => unavailable('source_failed', why, options);

/** The credentials are invalid or insufficient: a user must provide others. */
export const sourceRefused = (host: string, status: number) =>
  unavailable(
    'source_refused',
    status === 401
      ? `${host} does not accept the token (status 401).`
      : `The token does not have the required permission on ${host} (status ${status}).`,
    { cause: new RefusedStatus(status) },
  );

class RefusedStatus extends Error {
  readonly status: number;
  constructor(status: number) {
    super(`status ${status}`);
    this.status = status;
  }
}

/** Whether the other server does not know the token, as opposed to a lack of rights. Some say so for both. */
export const isRejected = ({ cause }: DomainError): boolean => cause instanceof RefusedStatus && cause.status === 401;

/** Absent and hidden repositories cannot be distinguished. */
export const sourceGone = (host: string, project: string) =>
  unavailable('source_gone', `${host} has no ${project}, or the token has no access to it.`);

/** A temporary failure. */
export class Again extends Error {
  readonly refusal: DomainError;
  constructor(refusal: DomainError) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

import { internal } from '../../kernel/index.ts';
import type { Random } from '../../kernel/index.ts';
import { anonymousIdentity, emptyForm } from '../../http/index.ts';
import type { Middleware } from './context.ts';

const noUpload = (): never => {
  throw internal('this route takes no uploads');
};

/** Identifies the request in the log line and in a user's error report. */
export function initRequestState(random: Random): Middleware {
  return async (ctx, next) => {
    ctx.state = {
      requestId: random.bytes(9).toString('base64url'),
      address: '',
      origin: '',
      routePath: null,
      identity: anonymousIdentity,
      found: null,
      organisation: null,
      form: emptyForm,
      takeUpload: noUpload,
      takeFiles: () => [],
      takeContents: () => [],
      takeReleaseFiles: () => [],
      showsSecret: false,
      cachedPage: null,
    };
    ctx.set('X-Request-Id', ctx.state.requestId);
    await next();
  };
}

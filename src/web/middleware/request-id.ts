import type { Random } from '../../kernel/index.ts';
import { anonymous } from '../../access/index.ts';
import type { Middleware } from '../context.ts';
import { emptyForm } from '../form.ts';

/** Names the request, for the log line and for the person who reports a fault. */
export function nameRequest(random: Random): Middleware {
  return async (ctx, next) => {
    ctx.state = {
      requestId: random.bytes(9).toString('base64url'),
      address: '',
      origin: '',
      routePath: null,
      identity: { viewer: anonymous, person: null, session: null },
      found: null,
      form: emptyForm,
      showsSecret: false,
    };
    ctx.set('X-Request-Id', ctx.state.requestId);
    await next();
  };
}

import t from 'tap';
import type { Context } from '../../src/http/index.ts';
import { withApiErrors } from '../../src/http-api/errors.ts';
import { invalid, notFound, silentLogger, unavailable } from '../../src/kernel/index.ts';

/** The status and the headers of a request whose operation throws. */
async function answerTo(error: unknown): Promise<{ status: number; headers: Record<string, string> }> {
  const headers: Record<string, string> = {};
  const ctx = {
    path: '/api/v1/version',
    status: 404,
    state: { requestId: '1' },
    req: { resume() {}, unpipe() {}, on() {}, complete: true, readableEnded: true },
    res: { headersSent: false, destroyed: false },
    set: (more: Record<string, string>) => void Object.assign(headers, more),
  };
  await withApiErrors(silentLogger)(ctx as unknown as Context, () => Promise.reject(error));
  return { status: ctx.status, headers };
}

t.test('what is refused for the moment says when to come again, and nothing else does', async (t) => {
  const cases: [error: unknown, status: number, retryAfter: string | undefined][] = [
    [unavailable('busy', 'Later.'), 503, '5'],
    [unavailable('busy', 'Later.', { retryAfterSeconds: 600 }), 503, '600'],
    [unavailable('busy', 'Later.', { retryAfterSeconds: 1.2 }), 503, '2'],
    [notFound('issue_not_found', 'Nothing.'), 404, undefined],
    [invalid('invalid_name', 'No name.'), 422, undefined],
    [new Error('a fault'), 500, undefined],
  ];
  for (const [error, status, retryAfter] of cases) {
    const answer = await answerTo(error);
    t.equal(answer.status, status);
    t.equal(answer.headers['Retry-After'], retryAfter, `${status}`);
  }
});

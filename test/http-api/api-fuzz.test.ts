import t from 'tap';
import fc from 'fast-check';
import { apiDocument } from '../../src/http-api/index.ts';
import { responseChecker, requestsFor } from './api-requests.ts';
import type { ApiRequest } from './api-requests.ts';
import { createKeepAliveClient } from './keep-alive-client.ts';
import { createApiFixture } from './api-fixture.ts';
import { startWeb } from '../fixtures/web-fixture.ts';

/** After each operation was asked once. HEARTH_API_REQUESTS=50000 makes it a long run. */
const requests = Number(process.env['HEARTH_API_REQUESTS'] ?? 3000);
const seed = Number(process.env['HEARTH_API_SEED'] ?? Date.now() % 1_000_000);

// A long run takes minutes.
t.setTimeout(3_600_000);

t.test('generated requests for every operation: no fault, nothing undocumented, no private word', async (t) => {
  const web = await startWeb(t);
  const { pools, canary, recreateDeleted, mayRead } = await createApiFixture(t, web);
  const document = await apiDocument();
  const check = responseChecker(document);
  const connections = createKeepAliveClient(web.port);
  t.teardown(() => connections.close());
  const statuses = new Map<string, Set<number>>();
  let requestCount = 0;

  const ask = async (request: ApiRequest): Promise<void> => {
    if (requestCount++ % 100 === 0) await recreateDeleted();
    const response = await connections.send(request);
    const wrong = check(request, response);
    if (wrong !== null) throw new Error(`${request.operationId}: ${wrong}`);
    // Link repeats what the request itself said.
    const { link: _, ...headers } = response.headers as Record<string, unknown>;
    if (!mayRead(request) && canary.test(response.body + JSON.stringify(headers)))
      throw new Error(`${request.operationId} gives a private word away: ${response.body}`);
    const seen = statuses.get(request.operationId) ?? new Set();
    statuses.set(request.operationId, seen.add(response.status));
  };
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(methods)) {
      const one = { ...document, paths: { [path]: { [method]: operation } } };
      for (const request of fc.sample(requestsFor(one, pools), { numRuns: 1, seed })) await ask(request);
    }
  const property = fc.asyncProperty(requestsFor(document, pools), ask);
  await fc.assert(property, { numRuns: requests, seed, endOnFailure: true });

  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  t.equal(statuses.size, operations.length, `all ${operations.length} operations were asked`);
  const failed = [...statuses].filter(([, seen]) => [...seen].every((status) => status >= 300)).map(([id]) => id);
  t.comment(`${requestCount} requests, seed ${seed}; never a success of ${failed.join(', ') || 'none'}`);
  // What needs several names that fit together is left to luck, in a long run a few times at most. A mirror is saved
  // once the other side has responded, and here no server does.
  if (requests >= 40_000) t.ok(failed.length <= 6, `nearly each succeeded at least once: ${failed.join(', ')} did not`);
  t.same(
    web.log.filter(({ level }) => level === 'error'),
    [],
    'nothing in the log',
  );
});

// Pages that stay open for what is new: how many, and for whom.
import t from 'tap';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { fillRepository, signedIn, startWeb } from '../../fixtures/web-fixture.ts';
import type { Visitor } from '../../fixtures/web-fixture.ts';
import { waitUntil } from '../../fixtures/wait-until.ts';

t.setTimeout(120_000);

const web = await startWeb(t);
const alice = await signedIn(web, 'alice');
const bob = await signedIn(web, 'bob');
await alice.post('/repos', { name: 'kiln', visibility: 'PUBLIC' });
const B = '/repos/alice/kiln';
const { path } = await web.modules.repositories.find({ kind: 'anonymous' }, 'alice', 'kiln');

await fillRepository(t, path, {
  '.hearth/workflows/ci.yml': 'on: workflow_dispatch\njobs: {build: {runs-on: linux, steps: [{run: make}]}}\n',
});

await alice.post(`${B}/runs`, { workflow: 'ci.yml', ref: 'main' });

interface Live {
  status: number;
  retryAfter: string | undefined;
  isOver: boolean;
  leave(): void;
}

/** Opens the stream of the run and keeps it. */
function watch(browser: Visitor): Promise<Live> {
  const headers = { Cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ') };
  return new Promise((resolve, reject) => {
    const followRequest = request(
      { host: '127.0.0.1', port: web.port, path: `${B}/runs/1/live`, headers, agent: false },
      (response: IncomingMessage) => {
        const live: Live = {
          status: response.statusCode ?? 0,
          retryAfter: response.headers['retry-after'],
          isOver: false,
          leave: () => void followRequest.destroy(),
        };
        response
          .resume()
          .on('error', () => {})
          .once('close', () => (live.isOver = true));
        resolve(live);
      },
    );
    followRequest.on('error', reject).end();
  });
}

t.test('security I10 one session may have five live pages; closing one frees its place', async (t) => {
  const five = await Promise.all(Array.from({ length: 5 }, () => watch(alice)));
  t.same(
    five.map(({ status }) => status),
    [200, 200, 200, 200, 200],
  );
  t.match(await watch(alice), { status: 503, retryAfter: '10' });
  const other = await watch(bob);
  t.equal(other.status, 200, 'others do not notice');
  for (const live of [five[0]!, other]) live.leave();
  await waitUntil(async () => (await watch(alice)).status === 200);
  t.notOk(five[1]!.isOver);
});

t.test('security E04, I10 a live page ends when its repository is hidden, or its session is over', async (t) => {
  const watching = await watch(bob);
  t.equal(watching.status, 200);
  await alice.post(`${B}/settings/visibility`, { visibility: 'PRIVATE' });
  t.equal((await watch(bob)).status, 404, 'security E05 at once for a new one');
  await waitUntil(async () => watching.isOver);
  t.pass('and soon for one that was open');
});

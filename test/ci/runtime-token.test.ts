// The runtime token of a task as text: its claims, its end, and what is not taken for one.
import path from 'node:path';
import t from 'tap';
import { readRuntimeToken, runtimeToken, runtimeTokenOf } from '../../src/ci/tasks/runtime-token.ts';
import { systemRandom } from '../../src/kernel/index.ts';
import { InstanceKey } from '../../src/sealing/index.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const keyOf = (purpose: string) => new InstanceKey(path.join(temporaryFolder(t), 'secret.key'), systemRandom, purpose);
const key = keyOf('ci');
const endsAt = 1_800_000_000_000;
const claims = { taskId: 7, runId: 5, jobId: 6, endsAt };
const token = runtimeToken(key, claims);
const [header, body, signature] = token.split('.') as [string, string, string];

t.test('a token opens until its end', async (t) => {
  t.strictSame(readRuntimeToken(key, token, 0), claims);
  t.strictSame(readRuntimeToken(key, token, endsAt - 1), claims);
  for (const late of [endsAt, endsAt + 1, endsAt * 2]) t.equal(readRuntimeToken(key, token, late), null, `at ${late}`);
  t.match(JSON.parse(Buffer.from(body, 'base64url').toString()), { scp: 'Actions.Results:5:6', exp: endsAt / 1000 });
});

t.test('the token of a task outlives it by an hour, and is the same each time', async (t) => {
  const deps = { key, settings: { maxTaskMs: 60_000 } } as unknown as Parameters<typeof runtimeTokenOf>[0];
  const of = () => runtimeTokenOf(deps, { id: 7, createdAt: 1_000_000 }, { id: 6, runId: 5 });
  t.equal(of(), of());
  t.strictSame(readRuntimeToken(key, of(), 0), { ...claims, endsAt: 1_000_000 + 60_000 + 3_600_000 });
});

t.test('what this server has not signed so opens nothing', async (t) => {
  const other = Buffer.from(JSON.stringify({ TaskID: 1, RunID: 1, JobID: 1, exp: 9e9 })).toString('base64url');
  const unsigned = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
  const changed = Buffer.from(signature, 'base64url');
  changed[0]! ^= 1;
  const foreign = runtimeToken(keyOf('ci'), claims);
  for (const text of [
    '',
    '..',
    `${header}.${body}`,
    `${header}.${body}.`,
    `${header}.${other}.${signature}`,
    `${unsigned}.${body}.${signature}`,
    `${header}.${body}.${changed.toString('base64url')}`,
    `${header}.${body}.${signature.slice(2)}`,
    `${token}.${signature}`,
    `${token}${'A'.repeat(4096)}`,
    foreign,
  ])
    t.equal(readRuntimeToken(key, text, 0), null, text.slice(0, 200));
});

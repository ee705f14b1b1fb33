// Calls that say how something shall be: programs repeat them, also eight at once, and each of them is done.
import t from 'tap';
import { sendRequest, startWeb } from '../fixtures/web-fixture.ts';

t.setTimeout(120_000);

const web = await startWeb(t);
const { accounts } = web.modules;

async function callerOf(username: string) {
  const { id } = await accounts.addPerson({ username });
  const wanted = { name: 'all', access: 'admin', repositoryIds: null, expiresAt: null } as const;
  const { secret } = await accounts.addToken(id, wanted);
  return async (method: string, path: string, body?: object): Promise<{ status: number; json: unknown }> => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const answer = await sendRequest(web, `/api/v1${path}`, {
      method,
      headers: {
        Authorization: `token ${secret}`,
        ...(text !== undefined && {
          'Content-Type': 'application/json',
          'Content-Length': String(Buffer.byteLength(text)),
        }),
      },
      ...(text !== undefined && { body: text }),
    });
    return { status: answer.status, json: answer.body === '' ? null : (JSON.parse(answer.body) as unknown) };
  };
}

const alice = await callerOf('alice');
await callerOf('bob');
await alice('POST', '/user/repos', { name: 'roof', private: false, auto_init: true });
await alice('POST', '/orgs', { username: 'guild' });
await alice('POST', '/orgs/guild/repos', { name: 'hall', private: false });
const team = (await alice('POST', '/orgs/guild/teams', { name: 'devs', permission: 'write' })).json as { id: number };
const [owners] = (await alice('GET', '/orgs/guild/teams')).json as { id: number }[];
await alice('POST', '/repos/alice/roof/issues', { title: 'Tiles' });

const table: [path: string, body: object | undefined, statuses: number[]][] = [
  ['/repos/alice/roof/collaborators/bob', { permission: 'write' }, [204]],
  ['/repos/alice/roof/collaborators/bob', { permission: 'read' }, [204]],
  [`/teams/${team.id}/members/bob`, undefined, [204]],
  [`/teams/${team.id}/repos/guild/hall`, undefined, [204]],
  ['/repos/guild/hall/teams/devs', undefined, [204]],
  [`/teams/${owners!.id}/members/bob`, undefined, [204]],
  ['/orgs/guild/public_members/alice', undefined, [204]],
  ['/repos/alice/roof/topics', { topics: ['tiles', 'wood'] }, [204]],
  ['/repos/alice/roof/topics/slate', undefined, [204]],
  ['/user/starred/alice/roof', undefined, [204]],
  ['/repos/alice/roof/subscription', undefined, [200]],
  ['/user/following/bob', undefined, [204]],
  ['/user/blocks/bob', undefined, [204]],
  ['/orgs/guild/blocks/bob', undefined, [204]],
  ['/repos/alice/roof/issues/1/subscriptions/alice', undefined, [200, 201]],
  ['/repos/alice/roof/actions/secrets/TOKEN', { data: 'x' }, [201, 204]],
];

for (const [path, body, statuses] of table)
  t.test(`PUT ${path}, eight at once`, async (t) => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => alice('PUT', path, body)));
    t.strictSame(
      answers.filter(({ status }) => !statuses.includes(status)),
      [],
    );
  });

t.test('what they say holds, once', async (t) => {
  const names = async (path: string) =>
    ((await alice('GET', path)).json as { login: string }[]).map((one) => one.login);
  t.strictSame(await names('/repos/alice/roof/collaborators'), ['bob']);
  t.match((await alice('GET', '/repos/alice/roof/collaborators/bob/permission')).json, { permission: 'read' });
  t.strictSame(await names(`/teams/${team.id}/members`), ['bob']);
  t.strictSame(await names('/user/following'), ['bob']);
  const { topics } = (await alice('GET', '/repos/alice/roof/topics')).json as { topics: string[] };
  t.strictSame(topics.toSorted(), ['slate', 'tiles', 'wood']);
});

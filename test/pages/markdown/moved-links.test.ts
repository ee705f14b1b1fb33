// time limit: 120 s
// Texts that came from another forge: links to the old address lead to what is here, stored texts stay as they are, and
// what a reader may not see stays the old link.
import t from 'tap';
import { freePort } from '../../fixtures/free-port.ts';
import { signedIn, startWeb, visitor } from '../../fixtures/web-fixture.ts';
import type { Visitor } from '../../fixtures/web-fixture.ts';
import { startGiteaStub } from '../../imports/gitea-stub.ts';
import { gitlabProject, startGitlabStub } from '../../imports/gitlab-stub.ts';
import { viewerOf } from '../issues/issues-fixture.ts';

t.setTimeout(100_000);

const [one, other] = [await freePort(), await freePort()];
const web = await startWeb(t, { env: { SERVICE_MIRRORS_ALLOWED_HOSTS: `127.0.0.1:${one},127.0.0.1:${other}` } });
const { imports } = web.modules;
const people = { anonymous: visitor(web), alice: await signedIn(web, 'alice'), bob: await signedIn(web, 'bob') };
const alice = viewerOf(people.alice.id, 'alice');
const bob = viewerOf(people.bob.id, 'bob');

/** The links of a page whose texts have them, by their text. */
async function linksOf(who: Visitor, path: string): Promise<Map<string, string>> {
  const { status, body } = await who.get(path);
  t.equal(status, 200, path);
  const links = body.matchAll(/<a href="([^"]*)"[^>]*>([^<]*)<\/a>/g);
  return new Map(Array.from(links, ([, url, text]) => [text!, url!]));
}

t.test('links of Gitea lead to issues, commits, comments, pages and files here', async (t) => {
  const forge = await startGiteaStub(t, { port: one });
  const own = `${forge.url}/bob/tool`;
  const secret = forge.addRepository('carol/secret');
  secret.addIssue({ title: 'Hidden' });
  const tip = forge.tip();
  forge.addIssue({ title: 'First', body: 'Nothing here' });
  const comment = forge.addComment(1, 'A comment');
  const body = [
    `bare ${own}/issues/1 end`,
    `comment ${own}/issues/1#issuecomment-${comment} end`,
    `[named](${own}/issues/1)`,
    `[gone](${own}/issues/99)`,
    `[commit](${own}/commit/${tip})`,
    `[file](${own}/src/branch/main/docs/a%20b.md#L3)`,
    `[release](${own}/releases/tag/v1)`,
    `[settings](${own}/settings)`,
    `[secret](${forge.url}/carol/secret/issues/1)`,
    `[elsewhere](http://elsewhere.example.org/bob/tool/issues/1)`,
    `\`${own}/issues/1\``,
  ].join('\n\n');
  forge.addIssue({ title: 'Second', body });
  const { id } = await imports.start(alice, {
    address: own,
    token: forge.world.token,
    name: 'tool',
    visibility: 'PUBLIC',
  });
  await imports.runDue();
  t.match(await imports.find(id), { state: 'done', lastError: null });
  await imports.start(bob, { address: `${forge.url}/carol/secret`, token: forge.world.token, name: 'secret' });
  await imports.runDue();

  const home = '/repos/alice/tool';
  const links = await linksOf(people.alice, `${home}/issues/2`);
  const expected: readonly (readonly [string, string])[] = [
    ['#1', `${home}/issues/1`],
    ['#1 (comment)', `${home}/issues/1#e1`],
    ['named', `${home}/issues/1`],
    ['gone', `${own}/issues/99`],
    ['commit', `${home}/commit/${tip}`],
    ['file', `${home}/tree/main/docs/a%20b.md#L3`],
    ['release', `${home}/releases/tag/v1`],
    ['settings', `${own}/settings`],
    ['secret', `${forge.url}/carol/secret/issues/1`],
    ['elsewhere', 'http://elsewhere.example.org/bob/tool/issues/1'],
  ];
  for (const [text, url] of expected) t.equal(links.get(text), url, text);
  t.equal(
    (await linksOf(people.bob, `${home}/issues/2`)).get('secret'),
    '/repos/bob/secret/issues/1',
    'to whom may see it',
  );
  t.equal((await linksOf(people.anonymous, `${home}/issues/2`)).get('secret'), `${forge.url}/carol/secret/issues/1`);
  const [row] = await web.modules.db.read.query(
    `SELECT e.body AS body FROM issue_entries e JOIN issues i ON i.id = e.issue_id
     WHERE i.repository_id = ? AND i.number = 2 AND e.position = 0`,
    [id],
  );
  t.equal(row.body, body, 'the stored text is what it was');
  t.equal(
    (await people.alice.get(`${home}/issues/2`)).body.includes(`<code>${own}/issues/1</code>`),
    true,
    'code stays',
  );

  await web.modules.repositories.create(bob, { name: 'plain', visibility: 'PUBLIC' });
  await web.modules.issues.open(
    bob,
    { owner: 'bob', name: 'plain' },
    { title: 'Plain', body: `[named](${own}/issues/1)` },
  );
  t.equal(
    (await linksOf(people.bob, '/repos/bob/plain/issues/1')).get('named'),
    `${own}/issues/1`,
    'not of that server',
  );
});

t.test('numbers of GitLab lead to what has them here', async (t) => {
  const forge = await startGitlabStub(t, { port: other });
  const own = `${forge.url}/${gitlabProject}`;
  forge.addIssue({ title: 'First' });
  const merge = forge.addMerge([forge.commitFile(forge.tip(), 'one\nTWO\n')]);
  forge.addIssue({
    title: 'Second',
    description: `see !${merge} and #1, not x!${merge} or !77\n\n[merge](${own}/-/merge_requests/${merge})\n\n[changes](${own}/merge_requests/${merge}/diffs)`,
  });
  const start = { address: own, token: forge.world.token, name: 'app', visibility: 'PUBLIC' } as const;
  const { id } = await imports.start(alice, start);
  await imports.runDue();
  t.match(await imports.find(id), { state: 'done', lastError: null });
  const home = '/repos/alice/app';
  const links = await linksOf(people.anonymous, `${home}/issues/2`);
  t.equal(links.get(`!${merge}`), `${home}/pulls/3`);
  t.equal(links.get('#1'), `${home}/issues/1`);
  t.equal(links.get('merge'), `${home}/pulls/3`);
  t.equal(links.get('changes'), `${home}/pulls/3/changes`);
  t.notOk(links.has('!77'), 'what is absent stays text');
  t.match((await people.anonymous.get(`${home}/issues/2`)).body, /not x!1 or !77/);
});

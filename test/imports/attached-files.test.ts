// time limit: 120 s
// Files that texts of another forge show: they come along, are shown at their links to those who read the issue, and
// what is no file, or is elsewhere, is a line of the report. The token goes to the source alone.
import t from 'tap';
import { freePort } from '../fixtures/free-port.ts';
import { sampleImages } from '../images/sample-images.ts';
import { signedIn, startWeb, visitor } from '../fixtures/web-fixture.ts';
import { startHttpRemote } from '../mirrors/remote-servers.ts';
import { viewerOf } from '../pages/issues/issues-fixture.ts';
import { startGiteaStub, user } from './gitea-stub.ts';
import { gitlabProject, startGitlabStub } from './gitlab-stub.ts';

t.setTimeout(100_000);

const [one, two, other] = [await freePort(), await freePort(), await freePort()];
const hosts = [one, two, other].map((port) => `127.0.0.1:${port}`).join(',');
const web = await startWeb(t, { env: { SERVICE_MIRRORS_ALLOWED_HOSTS: hosts } });
const { imports, db } = web.modules;
const people = { anonymous: visitor(web), alice: await signedIn(web, 'alice'), bob: await signedIn(web, 'bob') };
const alice = viewerOf(people.alice.id, 'alice');

const idOf = (at: number): string => `${String(at).padStart(8, '0')}-2222-4333-8444-555555555555`;
const png = sampleImages['image/png'];

async function problemsOf(id: string): Promise<string[]> {
  const problems = await imports.problems((await imports.find(id))!.id);
  return problems.filter(({ item }) => item !== 'to do').map(({ item, problem }) => `${item}: ${problem}`);
}
const countOf = async (table: string): Promise<number> =>
  Number((await db.read.query(`SELECT count(*) AS n FROM ${table}`))[0].n);

t.test('attached files of Gitea come along, each once, and those that cannot are named', async (t) => {
  const forge = await startGiteaStub(t, { port: one });
  const elsewhere = await startHttpRemote(t, { port: other });
  let asked = 0;
  elsewhere.answer = (_request, response) => {
    asked += 1;
    response.writeHead(200).end('secret');
    return true;
  };
  const serve = (at: number, file: { status?: number; headers?: Record<string, string>; body?: string | Buffer }) =>
    forge.files.set(`/attachments/${idOf(at)}`, file);
  const type = (value: string, name = '') => ({
    'Content-Type': value,
    ...(name === '' ? {} : { 'Content-Disposition': `inline; filename="x"; filename*=UTF-8''${name}` }),
  });
  serve(1, { body: png, headers: type('image/png', 'a%20photo.png') });
  serve(2, { body: 'a,b\n', headers: type('text/plain', 'table.csv') });
  serve(3, { body: '<h1>Sign in</h1>', headers: type('text/html; charset=utf-8') });
  serve(4, { status: 302, headers: { Location: `${elsewhere.url}/secret` } });
  serve(5, { status: 302, headers: { Location: 'http://10.0.0.1/secret' } });
  serve(6, { status: 303, headers: { Location: `${forge.url}/moved/file.txt` } });
  forge.files.set('/moved/file.txt', { body: 'moved', headers: type('text/plain') });
  serve(7, { body: '' });
  serve(8, { body: png.subarray(0, 40), headers: type('image/png') });
  serve(10, { status: 404 });
  serve(9, { body: 'not in the text', headers: type('text/plain', 'log.txt') });
  const at = (number: number): string => `/attachments/${idOf(number)}`;
  const body = [
    `![shown](${at(1)})`,
    `![whole](${forge.url}${at(1)})`,
    `[table](${forge.url}/bob/tool${at(2)})`,
    ...[3, 4, 5, 6, 7, 8, 10].map((number) => `[file ${number}](${at(number)})`),
    `[other](http://127.0.0.1:${other}${at(1)})`,
  ].join('\n\n');
  forge.addIssue({ body });
  forge.addComment(1, `again ![shown](${at(1)})`, { assets: [{ uuid: idOf(9), name: 'log.txt' }] });
  const start = { address: `${forge.url}/bob/tool`, token: forge.world.token, name: 'tool' };
  const { id } = await imports.start(alice, start);
  await imports.runDue();
  t.match(await imports.find(id), { state: 'done', lastError: null });
  const lines = (await problemsOf(id)).filter((line) => line.startsWith('file')).sort();
  const expected: [number, RegExp][] = [
    [3, /of #1 did not come: .* answered with a page instead of the file/],
    [4, /of #1 did not come: it is at 127\.0\.0\.1:\d+, another host of the own network/],
    [5, /of #1 did not come: .*(?:not public|10\.0\.0\.1|Only https)/],
    [7, /of #1 did not come: This file is empty/],
    [8, /of #1 did not come: This PNG is damaged/],
    [10, /of #1 did not come: .* does not have it any more, or hides it/],
  ];
  t.equal(lines.length, expected.length, lines.join('\n'));
  for (const [at, [number, why]] of expected.entries()) {
    t.match(lines[at], new RegExp(`^file attachments/${idOf(number)}: `));
    t.match(lines[at], why);
  }
  t.equal(asked, 0, 'nothing is asked of another host of the own network');
  t.ok(forge.fileRequests.length > 0);
  for (const { path, authorization } of forge.fileRequests) t.equal(authorization, `token ${forge.world.token}`, path);
  t.equal(await countOf('attachments'), 4);

  const page = await people.alice.get('/repos/alice/tool/issues/1');
  const own = new Set(page.body.match(/\/repos\/alice\/tool\/attachments\/[0-9a-f-]{36}/g));
  t.equal(own.size, 4, 'the image, the table, the moved file, and the log that no text names');
  t.match(
    page.body,
    /<ul[^>]*aria-label="Attached files"><li><a href="[^"]*\/attachments\/[0-9a-f-]{36}">log\.txt<\/a><\/li><\/ul>/,
  );
  t.match(page.body, new RegExp(`href="http://127\\.0\\.0\\.1:${other}/attachments/`), 'no other server is meant');
  const [image] = /\/repos\/alice\/tool\/attachments\/[0-9a-f-]{36}/.exec(page.body)!;
  const shown = await people.alice.get(image);
  t.match([shown.status, shown.headers['content-type']], [200, 'image/png']);
  t.match(shown.headers['content-disposition'], /a photo\.png|a%20photo\.png/);
  for (const who of [people.bob, people.anonymous]) t.not((await who.get(image)).status, 200, 'private as its issue');

  const before = forge.fileRequests.length;
  await imports.again(alice, id, {});
  await imports.runDue();
  t.equal(forge.fileRequests.length, before, 'nothing is fetched again');
  serve(10, { body: 'late', headers: type('text/plain') });
  await imports.again(alice, id, { isFull: true });
  await imports.runDue();
  t.strictSame(
    forge.fileRequests
      .slice(before)
      .map(({ path }) => path.split('/').at(-1)!)
      .toSorted(),
    [3, 4, 5, 7, 8, 10].map(idOf),
    'what did not come is tried again when everything is compared',
  );
  t.equal(await countOf('attachments'), 5);
  forge.addComment(1, `once more ![shown](${at(1)})`, { user: user('bob') });
  await imports.again(alice, id, {});
  await imports.runDue();
  const uses = await db.read.query(
    'SELECT position AS position FROM attachment_uses u JOIN attachments a ON a.id = u.attachment_id WHERE a.content_type = ? ORDER BY position',
    ['image/png'],
  );
  t.strictSame(
    uses.map((row: { position: number }) => Number(row.position)),
    [0, 1, 2],
  );
});

t.test('uploads of GitLab come by its API', async (t) => {
  const forge = await startGitlabStub(t, { port: two });
  const hash = '0123456789abcdef0123456789abcdef';
  forge.files.set(`/uploads/${hash}/a%20b.png`, png);
  forge.addIssue({
    description: `![shown](/uploads/${hash}/a%20b.png){width=9}\n\n[gone](/uploads/${hash.replace('0', '1')}/gone.txt)`,
  });
  const own = `${forge.url}/${gitlabProject}`;
  const { id } = await imports.start(alice, {
    address: own,
    token: forge.world.token,
    name: 'app',
    visibility: 'PUBLIC',
  });
  await imports.runDue();
  t.match(await imports.find(id), { state: 'done', lastError: null });
  t.match(await problemsOf(id), [/^file gone\.txt: of #1 did not come: /]);
  const { body } = await people.anonymous.get('/repos/alice/app/issues/1');
  const [image] = /\/repos\/alice\/app\/attachments\/[0-9a-f-]{36}/.exec(body)!;
  t.match(await people.anonymous.get(image), { status: 200, headers: { 'content-type': 'image/png' } });
});

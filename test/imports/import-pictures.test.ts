// time limit: 120 s
// The picture of a repository comes along, once, and is that of the source as long as nobody changes it here. What is
// no picture, too large or elsewhere is a line of the report; the token goes to the source alone.
import t from 'tap';
import { nullIfNotFound } from '../../src/kernel/index.ts';
import { freePort } from '../fixtures/free-port.ts';
import { signedIn, startWeb } from '../fixtures/web-fixture.ts';
import { sampleImages } from '../images/sample-images.ts';
import { startHttpRemote } from '../mirrors/remote-servers.ts';
import { viewerOf } from '../pages/issues/issues-fixture.ts';
import { startGiteaStub } from './gitea-stub.ts';
import { gitlabProject, startGitlabStub } from './gitlab-stub.ts';

t.setTimeout(110_000);

const ports = [await freePort(), await freePort(), await freePort()] as const;
const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',');
const web = await startWeb(t, { env: { SERVICE_MIRRORS_ALLOWED_HOSTS: hosts } });
const { imports, repositories } = web.modules;
const alice = viewerOf((await signedIn(web, 'alice')).id, 'alice');
const png = sampleImages['image/png'];
const gif = sampleImages['image/gif'];
const elsewhere = await startHttpRemote(t, { port: ports[2] });
let asked = 0;
elsewhere.answer = (_request, response) => {
  asked += 1;
  response.writeHead(200, { 'Content-Type': 'image/png' }).end(png);
  return true;
};

/** The picture here, with the time of its last change. */
async function pictureOf(name: string): Promise<{ bytes: Buffer; stamp: number } | null> {
  const image = await repositories.images.open(alice, 'alice', name).catch(nullIfNotFound);
  if (image === null) return null;
  const chunks: Buffer[] = [];
  for await (const chunk of image.stream()) chunks.push(chunk as Buffer);
  return { bytes: Buffer.concat(chunks), stamp: image.stamp };
}
async function linesOf(id: string): Promise<string[]> {
  t.match(await imports.find(id), { state: 'done', lastError: null });
  const problems = await imports.problems((await imports.find(id))!.id);
  return problems.flatMap(({ item, problem }) => (item === 'picture' ? problem : []));
}
async function again(id: string): Promise<string[]> {
  await imports.again(alice, id, { isFull: true });
  await imports.runDue();
  return linesOf(id);
}

t.test('the picture of a repository of Gitea', async (t) => {
  const forge = await startGiteaStub(t, { port: ports[0] });
  const other = forge.addRepository('bob/other');
  const show = (path: string): void => void (forge.world.repository['avatar_url'] = `${forge.url}${path}`);
  const start = async (project: string): Promise<string> => {
    const { id } = await imports.start(alice, { address: `${forge.url}/${project}`, token: forge.world.token });
    await imports.runDue();
    return id;
  };
  const serve = (
    path: string,
    body: Buffer | string,
    more: { status?: number; headers?: Record<string, string> } = {},
  ) => forge.files.set(path, { body, headers: { 'Content-Type': 'image/png' }, ...more });
  serve('/repo-avatars/1', png);
  show('/repo-avatars/1');
  other.world.repository['avatar_url'] = '';
  const id = await start('bob/tool');
  await start('bob/other');
  const first = (await pictureOf('tool'))!;
  t.ok(first.bytes.equals(png));
  t.equal(await pictureOf('other'), null);
  t.strictSame(forge.fileRequests, [{ path: '/repo-avatars/1', authorization: `token ${forge.world.token}` }]);

  t.strictSame(await again(id), []);
  t.equal((await pictureOf('tool'))!.stamp, first.stamp, 'the second run changes nothing');
  serve('/repo-avatars/2', gif, { headers: { 'Content-Type': 'text/plain' } });
  show('/repo-avatars/2');
  await imports.again(alice, id, {});
  await imports.runDue();
  t.ok((await pictureOf('tool'))!.bytes.equals(gif), 'another address is another picture; its content tells its type');

  const cases: [path: string, serve: () => unknown, line: RegExp][] = [
    ['/a', () => serve('/a', '<h1>Sign in</h1>', { headers: { 'Content-Type': 'text/html' } }), /a page instead/],
    ['/b', () => serve('/b', Buffer.alloc(2_097_153, 'x')), /at most 2 MB/],
    ['/c', () => serve('/c', '', { status: 302, headers: { Location: `${elsewhere.url}/x` } }), /own network/],
    [
      '/d',
      () => serve('/d', '', { status: 302, headers: { Location: 'https://10.0.0.1/x' } }),
      /10\.0\.0\.1 is not a public/,
    ],
    ['/e', () => serve('/e', '<svg xmlns="http://www.w3.org/2000/svg"/>'), /PNG, JPEG, GIF or WebP/],
    ['/g', () => serve('/g', ''), /not empty/],
    ['/h', () => {}, /does not (?:show|have) it/],
  ];
  for (const [path, prepare, line] of cases) {
    prepare();
    show(path);
    const lines = await again(id);
    t.equal(lines.length, 1, path);
    t.match(lines[0], line, path);
    t.ok((await pictureOf('tool'))!.bytes.equals(gif), 'what is here stays');
  }
  t.equal(asked, 0, 'nothing else of the own network is asked');
  show('/repo-avatars/2');
  t.strictSame(await again(id), [], 'a line goes with its reason');

  await repositories.images.replace(alice, 'alice', 'tool', { declaredType: 'image/png', bytes: png });
  t.strictSame(await again(id), []);
  t.ok((await pictureOf('tool'))!.bytes.equals(png), 'a change here stays');
  serve('/repo-avatars/3', sampleImages['image/jpeg']);
  show('/repo-avatars/3');
  t.match(await again(id), [/was changed on both sides: the one here stays/]);
  t.ok((await pictureOf('tool'))!.bytes.equals(png));
  t.strictSame(await again(id), [], 'and is named once');

  await repositories.images.replace(alice, 'alice', 'tool', {
    declaredType: 'image/jpeg',
    bytes: sampleImages['image/jpeg'],
  });
  forge.world.repository['avatar_url'] = '';
  t.strictSame(await again(id), []);
  t.equal(await pictureOf('tool'), null, 'removed there, and not changed here: removed here');
});

t.test('the picture of a private project of GitLab comes by its API', async (t) => {
  const forge = await startGitlabStub(t, { port: ports[1] });
  forge.world.project['avatar_url'] = `${forge.url}/uploads/-/system/project/avatar/42/a.png`;
  forge.files.set('/avatar', png);
  const { id } = await imports.start(alice, { address: `${forge.url}/${gitlabProject}`, token: forge.world.token });
  await imports.runDue();
  t.strictSame(await linesOf(id), []);
  t.ok((await pictureOf('app'))!.bytes.equals(png));
  t.equal(forge.requests.filter(({ path }) => path.endsWith('/avatar')).length, 1);
});

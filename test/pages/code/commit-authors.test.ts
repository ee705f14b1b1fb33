// Who made a commit, on every page that shows it.
import t from 'tap';
import { writeFileSync } from 'node:fs';
import { anonymous as nobody } from '../../../src/access/index.ts';
import { runGit } from '../../fixtures/git-repositories.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { signedIn, startWeb, visitor } from '../../fixtures/web-fixture.ts';
import type { Owner } from '../../fixtures/temporary-folder.ts';

interface Made {
  name: string;
  email: string;
}

/** Commits in this order, the author and the committer of each. */
async function commitAs(t: Owner, bare: string, commits: [author: Made, committer: Made][]): Promise<void> {
  const cwd = temporaryFolder(t);
  await runGit(['init', '--quiet', '-b', 'main'], { cwd });
  for (const [index, [author, committer]] of commits.entries()) {
    const env = {
      GIT_AUTHOR_NAME: author.name,
      GIT_AUTHOR_EMAIL: author.email,
      GIT_AUTHOR_DATE: `2025-12-30T10:00:${10 + index}Z`,
      GIT_COMMITTER_NAME: committer.name,
      GIT_COMMITTER_EMAIL: committer.email,
      GIT_COMMITTER_DATE: `2025-12-30T10:00:${10 + index}Z`,
    };
    writeFileSync(`${cwd}/a.txt`, `line ${index}\n`, { flag: 'a' });
    await runGit(['add', '.'], { cwd, env });
    await runGit(['commit', '--quiet', '-m', `Change ${index}`], { cwd, env });
    if (index === commits.length - 1) {
      const tagger = { GIT_COMMITTER_NAME: author.name, GIT_COMMITTER_EMAIL: author.email };
      await runGit(['tag', '-a', '-m', 'First', 'v1'], { cwd, env: { ...env, ...tagger } });
    }
  }
  await runGit(['push', '--quiet', bare, 'main', 'v1'], { cwd });
}

t.test('history, commit, blame, tree, file, comparison, branches, tags, feeds, and the API', async (t) => {
  const web = await startWeb(t);
  const { accounts, repositories, git } = web.modules;
  const alice = await signedIn(web, 'alice');
  const person = await accounts.personByUsername('alice');
  await alice.post('/repos', { name: 'work', visibility: 'PUBLIC' });
  const { path: bare } = await repositories.find(nobody, 'alice', 'work');
  const noReply = accounts.addresses.noReplyOf(person);
  const old = { name: 'Alice at work', email: 'Alice@Example.org' };
  const other = { name: 'Bob', email: 'bob@example.org' };
  await commitAs(t, bare, [
    [other, other],
    [{ name: 'alice', email: noReply }, old],
    [old, other],
  ]);
  const anonymous = visitor(web);
  const B = '/repos/alice/work';
  const { oid } = await git.refs.head(bare);
  const { parents } = await git.objects.commit(bare, oid!);
  const pages = [
    `${B}/commits/main`,
    `${B}/commit/${oid}`,
    `${B}/blame/main/a.txt`,
    B,
    `${B}/tree/main`,
    `${B}/blob/main/a.txt`,
    `${B}/branches`,
    `${B}/tags`,
    `${B}/compare/${parents[0]}...${oid}`,
  ];
  const link = (handle: string) => new RegExp(`<a[^>]*href="/users/${handle}"[^>]*>${handle}</a>`, 'i');
  const read = async (path: string) => {
    const { status, body } = await anonymous.get(path);
    t.equal(status, 200, path);
    return /<main[^]*/.exec(body)![0].replace(/<h1[^]*?<\/h1>/, '');
  };
  for (const path of pages) {
    const body = await read(path);
    t.match(body, 'Alice at work', `${path} shows the name in the commit`);
    t.notMatch(body, /class="author"[^>]*>alice at work/i);
  }
  t.match(await read(`${B}/commits/main`), link('alice'), 'the no-reply address is known from the start');

  const { id } = await accounts.addresses.add(person.id, { address: 'alice@example.org', isVerified: true });
  for (const path of pages) {
    const body = await read(path);
    t.match(body, link('alice'), `${path} names the person`);
    t.notMatch(body, 'alice@example.org', 'no address is shown');
  }
  const history = await read(`${B}/commits/main`);
  t.equal(
    history.match(/class="author"/g)?.length,
    2,
    'one person with two addresses is no pair of author and committer',
  );
  for (const feed of [`${B}/commits/main.atom`, `${B}/tags.atom`]) {
    const { body } = await anonymous.get(feed);
    t.match(body, `<author><name>alice</name><uri>${web.origin}/users/alice</uri></author>`);
  }
  const api = JSON.parse((await anonymous.get(`/api/v1/repos/alice/work/commits/${oid}`)).body) as object;
  t.match(api, { author: { username: 'alice', name: 'Alice at work' }, committer: { username: null, name: 'Bob' } });

  await accounts.renamePerson(person.id, 'alicia');
  const at = B.replace('alice', 'alicia');
  t.match(await read(`${at}/commits/main`), link('alicia'), 'a new handle');
  await accounts.addresses.remove(person.id, id);
  for (const path of pages.slice(1)) {
    const body = await read(path.replace('/alice/', '/alicia/'));
    t.match(body, 'Alice at work', `${path} after the address was removed`);
  }
});

t.test('one look-up for each page', async (t) => {
  const web = await startWeb(t);
  const { accounts, repositories } = web.modules;
  const alice = await signedIn(web, 'alice');
  await alice.post('/repos', { name: 'work', visibility: 'PUBLIC' });
  const { path: bare } = await repositories.find(nobody, 'alice', 'work');
  const made = Array.from({ length: 40 }, (_, n): [Made, Made] => {
    const one = { name: `P ${n}`, email: `${n}@example.org` };
    return [one, one];
  });
  await commitAs(t, bare, made);
  let questions = 0;
  const ask = accounts.addresses.peopleByAddress;
  accounts.addresses.peopleByAddress = (addresses) => ((questions += 1), ask(addresses));
  for (const path of ['/commits/main', '/blame/main/a.txt', '/tags', '/branches']) {
    questions = 0;
    t.equal((await visitor(web).get(`/repos/alice/work${path}`)).status, 200);
    t.equal(questions, 1, path);
  }
});

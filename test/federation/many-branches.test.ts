// A push of very many branches: few activities, and few questions to git.
import t from 'tap';
import { anonymous } from '../../src/access/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { createFederation } from '../../src/federation/index.ts';
import { silentLogger, systemRandom } from '../../src/kernel/index.ts';
import { runGit } from '../fixtures/git-repositories.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { addRepository, openFederation } from './federation-fixture.ts';

const zeros = '0'.repeat(40);

interface Content {
  summary: string;
  target: { type: string; name: string };
  object: { totalItems: number; orderedItems: unknown[] };
  forced?: true;
}

t.test('a push publishes at most twenty activities, the last of which sums up the rest', async (t) => {
  const stage = await openFederation(t);
  const { modules, origin, folder, clock } = stage;
  const { repositories, git } = modules;
  const { config } = loadConfig({
    env: {
      SERVICE_DATA_DIR: folder,
      SERVICE_FEDERATION_ENABLED: 'true',
      SERVICE_FEDERATION_BASE_URL: origin,
      SERVICE_FEDERATION_DEV_ALLOW_INSECURE: 'true',
    },
    cwd: folder,
    readFile: () => '',
  });
  let questions = 0;
  const objects: typeof git.objects = {
    ...git.objects,
    newCommits: (...args) => {
      questions += 1;
      return git.objects.newCommits(...args);
    },
  };
  const federation = createFederation({
    ...modules,
    git: { ...git, objects },
    config,
    clock,
    random: systemRandom,
    logger: silentLogger,
  } as never);
  t.teardown(() => federation.stop());
  await addRepository(stage);
  const { path: bare, repository } = await repositories.find(anonymous, 'alice', 'tool');
  const cwd = temporaryFolder(t);
  await runGit(['init', '--quiet', '-b', 'main'], { cwd });
  const commits: string[] = [];
  for (const message of ['one', 'two']) {
    await runGit(['commit', '--quiet', '--allow-empty', '-m', message], { cwd });
    commits.push((await runGit(['rev-parse', 'main'], { cwd })).trim());
  }
  const [first, second] = commits as [string, string];
  await runGit(['push', '--quiet', bare, 'main', `${first}:refs/heads/old`], { cwd });

  async function publish(updates: { ref: string; oldId: string; newId: string }[]) {
    questions = 0;
    const push = { id: 'p1', repository, pusherId: null, via: 'http', credential: null, options: [], updates };
    const prepared = await federation.onPush!.prepare!({ ...push, deployKey: null, arrivedAt: clock.now() } as never);
    return (prepared as unknown as { contents: Content[] }).contents;
  }
  const created = (count: number, newId: string) =>
    Array.from({ length: count }, (_, n) => ({ ref: `refs/heads/b${n}`, oldId: zeros, newId }));
  const main = { ref: 'refs/heads/main', oldId: zeros, newId: second };

  t.equal((await publish([...created(19, second), main])).length, 20, 'as many as there are branches');
  const contents = await publish([...created(44, second), main]);
  t.equal(contents.length, 20);
  t.match(contents[0], { target: { type: 'Branch', name: 'main' } }, 'the default branch comes first');
  t.match(contents.at(-1), {
    target: { type: 'Repository', name: '26 more branches' },
    summary: /pushed to 26 more branches of <a /,
    object: { totalItems: 0 },
  });
  t.equal(contents[1]!.object.totalItems, 1, 'new is what no other branch had');
  t.equal(questions, 1, 'branches of one commit cost one question');

  for (const count of [40, 400, 4_000]) {
    t.equal((await publish(created(count, first))).length, 20);
    t.equal(questions, 0, `${count} branches of an old commit cost no question`);
    await publish(Array.from({ length: count }, (_, n) => ({ ref: `refs/heads/b${n}`, oldId: first, newId: second })));
    t.ok(questions <= 40, `${count} branches that moved cost ${questions} questions`);
  }
});

// openModules(t, {settings?, random?}) → the modules up to repositories, on real SQLite, real git and real files, with
// alice, bob and carol.
// openAgain() and restart() build organisations and repositories again on the same data: for a second process, after a
// restart.
// openAgain(node) is a second server of the same database.  databaseOf(db, node) → a database as that node has it.
// viewerOf(person, {scope?, …}) → a signed-in viewer.  push(modules, viewer, 'alice/work', …) → one push, spoken by
// hand.
// reasonOf(work), outcomes(attempts) → what was refused, by reason.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import type { EntitySchema } from 'typeorm';
import type { PersonViewer, Viewer } from '../../src/access/index.ts';
import { accountEntities, createAccounts } from '../../src/accounts/index.ts';
import type { Database } from '../../src/db/index.ts';
import { createGit } from '../../src/git/index.ts';
import { createLeases } from '../../src/nodes/index.ts';
import type { Git } from '../../src/git/index.ts';
import { createImageStore } from '../../src/images/index.ts';
import { silentLogger, systemRandom } from '../../src/kernel/index.ts';
import type { Logger, LogFields, Random } from '../../src/kernel/index.ts';
import { createOrganisations, organisationEntities } from '../../src/organisations/index.ts';
import { avatarSchema, createAvatars, createOwners, handleSchema } from '../../src/owners/index.ts';
import { createRepositories, repositoryEntities } from '../../src/repositories/index.ts';
import type { PushListener, RepositorySettings } from '../../src/repositories/index.ts';
import { InstanceKey } from '../../src/sealing/index.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';
import { clientEnvironment } from '../git/git-fixture.ts';
import { packOf, pushBytes, readResponse, defaultCapabilities, zeroId } from '../git/push-fixture.ts';

export { zeroId };

interface LogLine extends LogFields {
  event: string;
}

/** The tables of all these modules. */
export const entities = [
  handleSchema,
  avatarSchema,
  ...accountEntities,
  ...organisationEntities,
  ...repositoryEntities,
] as unknown as EntitySchema<never>[];

export const defaultSettings = (folder: string): RepositorySettings => ({
  trashDirectory: path.join(folder, 'trash'),
  trashTtlMs: 30 * 24 * 3_600_000,
  undoTtlMs: 30 * 24 * 3_600_000,
  pushTtlMs: 730 * 24 * 3_600_000,
  lowDiskFloorBytes: 0,
  pushToCreate: false,
  maxChangeBytes: 1024 * 1024,
  listenerTimeoutMs: 60_000,
  recoveryWaitMs: 30_000,
});

export const databaseOf = (db: Database, node: string): Database =>
  Object.create(db, { node: { value: node } }) as Database;

interface ModuleOptions {
  settings?: Partial<RepositorySettings>;
  random?: Random;
  /** Tables of modules above. */
  more?: readonly EntitySchema[];
}

export async function openModules(t: Owner, options: ModuleOptions = {}) {
  const { db, folder, clock } = await openTestDatabase(t, { entities: [...entities, ...(options.more ?? [])] });
  const alone = db;
  const log: LogLine[] = [];
  const note = (event: string, fields: LogFields = {}) => void log.push({ event, ...fields });
  const logger: Logger = { ...silentLogger, info: note, warn: note, error: note, child: () => logger };
  const random = options.random ?? systemRandom;

  const owners = createOwners({ db });
  const passwordCost = { memoryKib: 8, passes: 1, parallelism: 1 };
  const accounts = createAccounts({
    db,
    owners,
    clock,
    random,
    logger,
    instanceKey: new InstanceKey(path.join(folder, 'instance.key'), systemRandom, 'accounts'),
    settings: { passwordCost },
  });
  t.teardown(() => accounts.stop());
  const imageFolder = path.join(folder, 'repo-images');
  const imagesIn = (directory: string) => createImageStore({ directory, clock, random: systemRandom, logger });
  const avatars = createAvatars({ db, logger, store: imagesIn(path.join(folder, 'avatars')) });
  async function openGit(): Promise<Git> {
    const git = await createGit({
      config: {
        dataDir: folder,
        storage: { root: path.join(folder, 'repositories'), lowDiskFloorBytes: 0 },
        git: {
          program: 'git',
          readSlots: 4,
          writeSlots: 8,
          queue: 64,
          queueWaitMs: 30_000,
          maxPushSizeBytes: 1024 ** 3,
          maxPushObjects: 10_000_000,
          maxPushMemoryBytes: 128 * 1024 ** 2,
          maxPushCpuMs: 60_000,
          readCommitGraph: true,
        },
      },
      logger,
    });
    t.teardown(() => git.stop(0));
    return git;
  }
  const git = await openGit();

  const settings = { ...defaultSettings(folder), ...options.settings };
  const images = imagesIn(imageFolder);
  const trashedImages = imagesIn(path.join(settings.trashDirectory, 'images'));
  function openLeft(git: Git, node?: string) {
    const db = node === undefined ? alone : databaseOf(alone, node);
    const organisations = createOrganisations({ db, owners, accounts, avatars, random, logger });
    const tools = { db, owners, accounts, organisations, git, images, trashedImages, clock, random, logger, settings };
    const repositories = createRepositories(tools);
    t.teardown(() => repositories.stop());
    organisations.setOwnedRepositories(repositories.ownedRepositories);
    repositories.pushes.onPush(repositories.pushes.preserveOverwrittenTips);
    return { organisations, repositories };
  }

  const people: Record<string, PersonViewer> = {};
  for (const username of ['alice', 'bob', 'carol']) people[username] = viewerOf(await accounts.addPerson({ username }));
  const { alice, bob, carol } = people as { alice: PersonViewer; bob: PersonViewer; carol: PersonViewer };
  return {
    db,
    leases: createLeases({ db, logger }),
    folder,
    imageFolder,
    clock,
    log,
    logger,
    settings,
    owners,
    accounts,
    avatars,
    git,
    images,
    trashedImages,
    ...openLeft(git),
    /** A second set of modules on the same data, as another process would have. */
    openAgain: (node?: string) => openLeft(git, node),
    /** The modules as after a restart. The old ones are not to be used any more. */
    async restart() {
      await git.stop(0);
      const next = await openGit();
      return { git: next, ...openLeft(next) };
    },
    alice,
    bob,
    carol,
    events: () => log.map(({ event }) => event),
  };
}

export type TestModules = Awaited<ReturnType<typeof openModules>>;

export function viewerOf(
  person: { id: string; username: string | null },
  change: Partial<PersonViewer> = {},
): PersonViewer {
  const { id, username } = person;
  return {
    kind: 'person',
    id,
    username,
    isAdministrator: false,
    via: 'session',
    scope: 'admin',
    repositoryIds: null,
    ...change,
  };
}

interface PushResponse {
  /** `ok refs/heads/main`, `ng refs/heads/main why` … */
  report: string[];
  remarks: string;
}

/** Sends commands (`old new ref`) with a pack of `work`, as a client would after the advertisement. */
export async function push(
  { repositories }: Pick<TestModules, 'repositories'>,
  viewer: Viewer,
  at: string,
  commands: readonly string[],
  options: PushOptions = {},
): Promise<PushResponse> {
  const [owner, name] = at.split('/') as [string, string];
  const opened = await repositories.openForPush(viewer, owner, name);
  return pushTo({ repositories }, viewer, opened, commands, options);
}

interface PushOptions {
  pack?: Buffer;
  via?: 'http' | 'ssh';
  capabilities?: string;
}

/** The same for what was opened before. */
export async function pushTo(
  { repositories }: Pick<TestModules, 'repositories'>,
  viewer: Viewer,
  opened: Awaited<ReturnType<TestModules['repositories']['openForPush']>>,
  commands: readonly string[],
  { pack = Buffer.alloc(0), via = 'http', capabilities = defaultCapabilities }: PushOptions = {},
): Promise<PushResponse> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const responded: Buffer[] = [];
  output.on('data', (chunk: Buffer) => responded.push(chunk));
  input.end(pushBytes({ commands, pack, capabilities }));
  const signal = new AbortController().signal;
  await repositories.pushes.receive(opened, { viewer, via, protocol: null, input, output, signal });
  const { report, remarks } = readResponse(Buffer.concat(responded));
  return { report: report.filter((line) => /^(ok|ng) /.test(line)), remarks };
}

/** A work tree with a line of commits; the same in every test. */
export interface SampleHistory {
  work: string;
  /** Ids, oldest first. */
  commits: string[];
  /** A commit beside the last one. */
  aside: string;
  /** Everything. */
  pack: Buffer;
}

/** Makes the history without a working copy: four commits in a row and one beside. */
export function sampleHistory(folder: string): SampleHistory {
  const work = path.join(folder, 'history.git');
  // Each commit a minute after the one before.
  let seconds = 1_700_000_000;
  const git = (args: string[], input = '') => {
    const env = { ...clientEnvironment, GIT_COMMITTER_DATE: `${(seconds += 60)} +0000` };
    return execFileSync('git', args, { cwd: folder, env, input, stdio: ['pipe', 'pipe', 'ignore'] })
      .toString()
      .trim();
  };
  git(['init', '--quiet', '--bare', work]);
  const inWork = (...args: string[]) => git([`--git-dir=${work}`, ...args]);
  const tree = git(
    [`--git-dir=${work}`, 'mktree'],
    `100644 blob ${git([`--git-dir=${work}`, 'hash-object', '-w', '--stdin'], 'hello\n')}\thello\n`,
  );
  const commit = (message: string, ...parents: string[]) =>
    inWork('commit-tree', tree, '-m', message, ...parents.flatMap((parent) => ['-p', parent]));
  const commits: string[] = [];
  for (const message of ['one', 'two', 'three', 'four']) commits.push(commit(message, ...commits.slice(-1)));
  const aside = commit('aside', commits[2]!);
  return { work, commits, aside, pack: packOf(work, commits[3]!, aside) };
}

/** The HEAD file of a bare repository, as git wrote it. */
export const headOf = (folder: string): string => readFileSync(path.join(folder, 'HEAD'), 'utf8').trim();

/** A listener that records what it receives. */
export function recordingListener(name: string): PushListener & { received: string[] } {
  const received: string[] = [];
  return {
    name,
    received: received,
    record: async () => {},
    recorded: (push) => received.push(push.id),
  };
}

export { outcomes, reasonOf } from '../accounts/accounts-fixture.ts';

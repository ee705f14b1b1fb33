import type { Command } from 'commander';
import type { Followed, ListedFollow, ListedFollower, ListedKey, FollowStatus } from '../../federation/index.ts';
import { conflict, invalid, notFound } from '../../kernel/index.ts';
import type { Action, Run } from '../action.ts';
import { addNoun, withExamples } from '../help.ts';
import { counted, isoOrNull, never } from '../terminal/output.ts';
import type { Cli } from '../cli.ts';
import { withHint } from '../report-error.ts';
import type { Column } from '../terminal/output.ts';
import { addBlockCommands } from './federation-block.ts';
import { addCopyCommands } from './federation-copy.ts';
import { addFollowerCommands } from './federation-follower.ts';
import { addNoteCommands } from './federation-note.ts';
import { addPeerCommands } from './federation-peer.ts';
import { findPerson, nameOf } from './find-person.ts';
import { findRepository } from './find-repository.ts';

/** `hearth federation …`: other servers, and follows of their repositories and users. */
export function addFederationCommands(program: Command, run: Run): void {
  const federation = addNoun(program, 'federation', 'federation with other servers');
  withExamples(
    federation
      .command('status')
      .description('show whether federation is operational, and if not, why')
      .action(run(showStatus)),
    'hearth federation status',
  );
  addPeerCommands(federation, run);
  addBlockCommands(federation, run);
  addCopyCommands(federation, run);
  addFollowerCommands(federation, run);
  addNoteCommands(federation, run);
  withExamples(
    federation
      .command('follow')
      .description('follow a repository or user on another server')
      .argument('<target>', 'owner/name@host, user@host, or a URL')
      .requiredOption('--user <name>', 'user who follows')
      .action(run(follow)),
    'hearth federation follow bob/tool@forge.example.org --user alice',
  );
  withExamples(
    federation
      .command('unfollow')
      .description('unfollow a repository or user; the other server is notified')
      .argument('<target>', 'handle as shown by "hearth federation follows", or the id')
      .requiredOption('--user <name>', 'user who followed')
      .action(run(unfollow)),
    'hearth federation unfollow bob/tool@forge.example.org --user alice',
  );
  withExamples(
    federation
      .command('follows')
      .description('list follows of local users')
      .option('--user <name>', 'filter by user')
      .action(run(listFollows)),
    'hearth federation follows --user alice',
  );
  withExamples(
    federation
      .command('followers')
      .description("list a repository's remote followers")
      .argument('<repository>', 'owner/name')
      .action(run(listFollowers)),
    'hearth federation followers alice/garden',
  );
  const origin = addNoun(federation, 'origin', 'base URL of local actor ids');
  withExamples(
    origin
      .command('accept')
      .description('accept a changed SERVICE_FEDERATION_BASE_URL')
      .argument('<origin>', 'new URL, as in the settings')
      .action(run(acceptOrigin)),
    'hearth federation origin accept https://git.example.org',
  );
  const actor = addNoun(federation, 'actor', 'actor documents of repositories and users');
  withExamples(
    actor
      .command('show')
      .description('print the document of a local or remote actor')
      .argument('<target>', 'owner/name@host, user@host, or a URL')
      .action(run(showActor)),
    'hearth federation actor show bob/tool@forge.example.org',
  );
  withExamples(
    federation.command('resync').description('check for new repositories of followed users now').action(run(resync)),
    'hearth federation resync',
  );
  withExamples(
    federation
      .command('keys')
      .description('list local actors and their public keys, or replace the keys')
      .option('--rotate', 'generate a new key for each actor; actor ids do not change')
      .option('--actor <id>', 'with --rotate: only this actor')
      .action(run(showKeys)),
    'hearth federation keys',
    'hearth federation keys --rotate',
    'hearth federation keys --rotate --actor https://git.example.org/ap/repos/alice/garden',
  );
}

const showStatus: Action<object, []> = async (cli) => {
  const { federation } = await cli.openModules();
  const [peers, counts, change] = await Promise.all([
    federation.listPeers(),
    federation.countDeliveries(),
    federation.originChange(),
  ]);
  const allowed = peers.filter((peer) => peer.allowed === 'settings' || peer.allowed === 'pairing');
  cli.output.show(
    [
      ['Federation', federation.isOperational ? 'operational' : 'off'],
      ...federation.obstacles.map((obstacle): [string, string] => ['Missing', obstacle]),
      ...(federation.isOperational ? [['Address', federation.origin] as [string, string]] : []),
      ...(change === null
        ? []
        : [
            [
              'Changed',
              `other servers know this one as ${change.from}: follows do not work in either direction. Set SERVICE_FEDERATION_BASE_URL back, or: hearth federation origin accept ${change.to}`,
            ] as [string, string],
          ]),
      [
        'Peers',
        allowed.length === 0 ? 'none allowed or paired: every other server is denied' : `${allowed.length} allowed`,
      ],
      ...(federation.openFollowers
        ? [['Followers', 'taken from every server that is not blocked'] as [string, string]]
        : []),
      ['Deliveries', `${counts.pending} queued, ${counts.failed} failed`],
    ],
    {
      operational: federation.isOperational,
      reason: federation.reasons[0] ?? null,
      reasons: federation.reasons,
      obstacles: federation.obstacles,
      baseUrl: federation.baseUrl,
      ...(change === null ? {} : { formerOrigin: change.from }),
      peers: allowed.map(({ host }) => host),
      openFollowers: federation.openFollowers,
      queue: counts,
    },
  );
};

const acceptOrigin: Action<object, [string]> = async (cli, _options, origin) => {
  const { federation } = await cli.openModules();
  const { followers, follows } = await federation.originConsequences();
  const change = await federation.originChange();
  if (change !== null && URL.parse(origin)?.origin === change.to) {
    await cli.confirm(
      `Continue as ${change.to} instead of ${change.from}? This ends ${followers} follows by users on other servers, who have to follow the new address. ` +
        `Hearth requests ${follows} follows of local users again. Activities queued under the former address are not sent.`,
    );
  }
  const done = await federation.acceptOrigin(origin);
  cli.output.result(
    `This server is now ${federation.origin}. Removed ${done.followers} remote followers, and requested ${done.follows} follows again.`,
    { origin: federation.origin, ...done },
  );
};

const follow: Action<{ user: string }, [string]> = async (cli, { user }, target) => {
  const modules = await cli.openModules();
  const person = await findPerson(modules, user);
  const followed = await modules.federation.followFor(person.id, target);
  const { kind, id, handle } = followed;
  cli.output.result(whatFollows(user, followed), {
    id,
    kind,
    handle,
    user: person.username,
    state: followed.state ?? null,
  });
};

function whatFollows(user: string, { handle, state, isNew }: Followed): string {
  // A followed user with their repositories.
  if (state === undefined) {
    return isNew === false
      ? `${user} already follows ${handle}. New repositories are followed when they appear.`
      : `${user} follows ${handle}. Hearth sends follow requests for each of their public repositories within seconds.`;
  }
  if (state === 'ACCEPTED') return `${user} already follows ${handle}.`;
  return isNew === false
    ? `${user} has already requested to follow ${handle}: PENDING until the other server accepts.`
    : `${user} requested to follow ${handle}: PENDING until the other server accepts.`;
}

const unfollow: Action<{ user: string }, [string]> = async (cli, { user }, target) => {
  const modules = await cli.openModules();
  const person = await findPerson(modules, user);
  const { people, repositories } = await modules.federation.followingOf(person.id);
  const all = [...people, ...repositories, ...people.flatMap((followed) => followed.repositories)];
  const wanted = target.replace(/^(acct:)?@?/i, '');
  const fitting = all.filter(
    ({ id, handle, remoteActorId }) => id === target || handle === wanted || remoteActorId === target,
  );
  const [found] = fitting;
  if (found === undefined) throw notFound('unknown_follow', `${user} does not follow ${target}.`);
  // A renamed repository and a new one with its old name share the name until their server is contacted again.
  if (fitting.some(({ remoteActorId }) => remoteActorId !== found.remoteActorId)) {
    const addresses = fitting
      .map(({ remoteActorId }) => remoteActorId)
      .sort()
      .join(', ');
    throw conflict(
      'ambiguous_follow',
      `Several follows of ${user} match ${target}. Use one of these instead: ${addresses}`,
    );
  }
  const ended = await modules.federation.unfollowFor(found.id);
  cli.output.result(`${user} no longer follows ${ended.handle}.`, { ...ended, user: person.username });
};

type FollowRow = ListedFollow & { user: string };

const followColumns: Column<FollowRow>[] = [
  { title: 'USER', cell: ({ user }) => user, whole: true },
  { title: 'TARGET', cell: ({ handle }) => handle, whole: true },
  { title: 'STATE', cell: (row) => (row.status === null ? 'PERSON' : row.state), whole: true },
  { title: 'SINCE', cell: ({ createdAt }) => never(createdAt) },
  { title: 'WHY', cell: (row) => (row.status === null ? aboutPerson(row) : whyWaiting(row.status)) },
];

function aboutPerson({ repositories, scanError }: Extract<ListedFollow, { status: null }>): string {
  return `${repositories} ${repositories === 1 ? 'repository' : 'repositories'} through them${scanError === null ? '' : `; looking for new ones failed: ${scanError}`}`;
}

function whyWaiting(status: FollowStatus): string {
  if (status.state === 'ACCEPTED') return status.goneAt === null ? '' : `not there since ${isoOrNull(status.goneAt)}`;
  switch (status.why) {
    case 'queued':
      return 'not sent yet';
    case 'waiting':
      return `not sent yet, next try ${isoOrNull(status.nextAttemptAt)}: ${status.error ?? 'the other server does not answer'}`;
    case 'retrying':
      return `tried ${status.attempts === 1 ? 'once' : `${status.attempts} times`}: ${status.error ?? 'no answer'}`;
    case 'unanswered':
      return 'the other server took it and has not answered yet';
    case 'failed':
      return `given up: ${status.error ?? 'no answer'}`;
  }
}

const listFollows: Action<{ user?: string }, []> = async (cli, { user }) => {
  const modules = await cli.openModules();
  const person = user === undefined ? null : await findPerson(modules, user);
  const follows = await modules.federation.listAllFollows({ userId: person?.id });
  const names = await modules.accounts.peopleById(follows.map(({ userId }) => userId));
  const rows = follows.map((each) => ({ ...each, user: nameOf(names.get(each.userId)) || each.userId }));
  cli.output.list(rows, followColumns, ['follow', 'follows'], (row) => ({
    id: row.id,
    user: row.user,
    kind: row.kind,
    target: row.handle,
    actor: row.remoteActorId,
    since: isoOrNull(row.createdAt),
    ...(row.status === null
      ? { state: null, why: row.scanError, viaUserActorId: null }
      : { state: row.state, why: whyWaiting(row.status) || null, viaUserActorId: row.viaUserActorId }),
  }));
};

const followerColumns: Column<ListedFollower>[] = [
  { title: 'ACTOR', cell: ({ actorId }) => actorId, whole: true },
  { title: 'SINCE', cell: ({ createdAt }) => never(createdAt) },
];

const listFollowers: Action<object, [string]> = async (cli, _options, repository) => {
  const modules = await cli.openModules();
  const { owner, name } = (await findRepository(modules, repository)).canonical;
  const followers = await modules.federation.listFollowers(owner, name);
  const gone = new Set(followers.filter(({ goneSince }) => goneSince !== null).map(({ host }) => host));
  for (const host of gone)
    cli.output.message(`${host} is considered gone. Nothing is sent to it until it responds again.`);
  cli.output.list(
    followers,
    followerColumns,
    ['follower', 'followers'],
    ({ actorId, inbox, createdAt, goneSince }) => ({
      actor: actorId,
      inbox,
      since: isoOrNull(createdAt),
      serverGoneSince: isoOrNull(goneSince),
    }),
  );
};

const showActor: Action<object, [string]> = async (cli, _options, target) => {
  const { federation } = await cli.openModules();
  const document = await federation.showActor(target);
  const text = (name: string): string => (typeof document[name] === 'string' ? document[name] : '');
  const key = document['publicKey'] as { id?: unknown } | undefined;
  cli.output.show(
    [
      ['Id', text('id')],
      ['Type', text('type')],
      ['Handle', text('preferredUsername')],
      ['Name', text('name')],
      ['Page', text('url')],
      ['Inbox', text('inbox')],
      ['Outbox', text('outbox')],
      ['Key', typeof key?.id === 'string' ? key.id : ''],
      ['Document', JSON.stringify(document)],
    ],
    document,
  );
};

const resync: Action<object, []> = async (cli) => {
  const { federation } = await cli.openModules();
  const results = await federation.resync();
  for (const { handle, error } of results) if (error !== null) cli.output.message(`${handle}: ${error}`);
  const added = results.flatMap((result) => result.added);
  cli.output.result(`Checked ${results.length} users. Newly followed repositories: ${added.length}.`, {
    people: results.length,
    added,
  });
};

const keyColumns: Column<ListedKey>[] = [
  { title: 'ACTOR', cell: ({ actorId }) => actorId, whole: true },
  { title: 'KEY ID', cell: ({ keyId }) => keyId },
  { title: 'CREATED', cell: ({ createdAt }) => never(createdAt) },
];

const showKeys: Action<{ rotate?: true; actor?: string }, []> = async (cli, { rotate, actor }) => {
  if (rotate === undefined && actor !== undefined)
    throw withHint(invalid('usage', 'Use --actor to specify the actor whose key is replaced.'), 'add --rotate');
  if (rotate === undefined) return listKeys(cli);
  await cli.confirm(
    actor === undefined ? 'Replace the keys of all actors of this server?' : `Replace the key of ${actor}?`,
  );
  const { federation } = await cli.openModules();
  const rotated = await federation.rotateKeys({ actorId: actor });
  cli.output.result(`${counted(rotated.length, 'actor has', 'actors have')} a new key.`, { rotated });
};

const listKeys = async (cli: Cli): Promise<void> => {
  const { federation } = await cli.openModules();
  cli.output.list(
    await federation.listKeys(),
    keyColumns,
    ['key', 'keys'],
    ({ actorId, keyId, kind, createdAt, publicKeyPem }) => ({
      actor: actorId,
      keyId,
      kind,
      createdAt: isoOrNull(createdAt),
      publicKeyPem,
    }),
  );
};

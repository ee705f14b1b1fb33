import { conflict } from '../../kernel/index.ts';
import type { Found, ListedRepository, RepositoryPage } from '../../repositories/index.ts';
import { cloneAddress } from './clone-address.ts';
import type { Command } from './parse-command.ts';
import type { InboxCommand } from './parse-inbox-command.ts';
import type { IssueCommand } from './parse-issue-command.ts';
import type { PullCommand } from './parse-pull-command.ts';
import { plainText } from './plain-text.ts';
import type { SshDeps } from '../deps.ts';
import { send } from './write-output.ts';
import type { AuthenticatedSession } from './session.ts';

type InfoCommand = Exclude<Command, { kind: 'git' | 'lfs' | 'wrong path' } | InboxCommand | IssueCommand | PullCommand>;

/** Rows per call of `repositories.list`. */
const pageSize = 100;
/** Repositories in the greeting. */
const shortList = 10;

const help = `\
help                                  this text
whoami                                who you are here
repo list [--all]                     your repositories, or all that you may see
repo info OWNER/NAME                  one repository
repo create [OWNER/]NAME [--public] [--description WORDS]
                                      a new repository, private unless told otherwise
issue list OWNER/NAME [--state open|closed|all] [--label NAMES]
                                      its issues, the newest first
issue show OWNER/NAME NUMBER          one issue with its comments
issue new OWNER/NAME --title WORDS [--label NAMES] [--assign USERS] [--milestone WORDS] < TEXT
issue comment OWNER/NAME NUMBER [--close|--reopen] < TEXT
issue close OWNER/NAME NUMBER [--reason completed|not_planned|duplicate]
issue reopen OWNER/NAME NUMBER
issue label OWNER/NAME NUMBER [--add NAMES] [--remove NAMES]
issue assign OWNER/NAME NUMBER [--add USERS] [--remove USERS]
                                      names and users are separated by commas
pull list OWNER/NAME [--state open|closed|merged|all] [--label NAMES] [--base BRANCH] [--head BRANCH]
                                      its pull requests, the newest first
pull show OWNER/NAME NUMBER           one pull request with its comments and reviews
pull stack OWNER/NAME NUMBER          what is merged before it, and what comes after
pull diff OWNER/NAME NUMBER [--round NUMBER] [--since NUMBER] [--patch]
                                      its changes, to read
pull checkout OWNER/NAME NUMBER       the git commands that fetch it
pull new OWNER/NAME --head BRANCH [--base BRANCH] [--draft] --title WORDS < TEXT
pull comment OWNER/NAME NUMBER [--close|--reopen] < TEXT
pull review OWNER/NAME NUMBER --approve [--round NUMBER]
pull review OWNER/NAME NUMBER --request-changes|--comment [--round NUMBER] < TEXT
pull reviewers OWNER/NAME NUMBER [--add USERS] [--remove USERS]
pull retarget OWNER/NAME NUMBER --base BRANCH
pull update OWNER/NAME NUMBER [--style merge|rebase]
pull merge OWNER/NAME NUMBER [--style merge|squash|rebase|forward] [--title WORDS] [--round NUMBER]
                                      [--when-ready] [--delete-branch]
pull queue OWNER/NAME [NUMBER] [--style merge|squash|rebase|forward] [--leave] [--first]
                                      the merge queues; with a number: adds it to one
pull close|reopen|ready|draft OWNER/NAME NUMBER
inbox [list] [--unread|--saved|--done] your notifications, with their numbers
inbox done|read|unread|save NUMBERS   change them, or all with --all
inbox undo CHANGE                     take that back

Everything else is git: clone, fetch, push and "git archive --remote".
`;

/**
 * The commands besides git. They call the same use cases as the pages and the command line, and print tab-separated
 * lines without headers, for pipes.
 */
export async function serveInfoCommand(
  deps: SshDeps,
  command: InfoCommand,
  session: AuthenticatedSession,
): Promise<number> {
  for await (const text of output(deps, command, session)) await send(plainText(text), session);
  return 0;
}

async function* output(deps: SshDeps, command: InfoCommand, session: AuthenticatedSession): AsyncGenerator<string> {
  const { repositories } = deps;
  const { viewer } = session;
  if (command.kind === 'help') return yield help;
  // A user without a username cannot own anything (SPEC §2.4).
  if (viewer.username === null)
    throw conflict('handle_missing', 'Sign in on the web page and choose a username first.');
  switch (command.kind) {
    case 'whoami':
      return yield `${viewer.username}\n`;
    case 'greet':
      return yield greeting(
        viewer.username,
        await repositories.list(viewer, { owner: { kind: 'user', id: viewer.id }, limit: shortList }),
      );
    case 'repo list':
      return yield* everyPage(deps, viewer, command.all ? {} : { owner: { kind: 'user', id: viewer.id } });
    case 'repo info':
      return yield described(deps, session, await repositories.find(viewer, command.owner, command.name));
    case 'repo create': {
      const { owner = viewer.username, name, visibility, description } = command;
      await repositories.create(viewer, { owner, name, visibility, description });
      const { canonical } = await repositories.find(viewer, owner, name);
      const address = cloneAddress(deps.config, session.port, canonical);
      return yield `Created ${canonical.owner}/${canonical.name}. Clone it with: git clone ${address}\n`;
    }
  }
}

async function* everyPage(
  { repositories }: SshDeps,
  viewer: AuthenticatedSession['viewer'],
  which: { owner?: { kind: 'user'; id: string } },
): AsyncGenerator<string> {
  let after: string | null = null;
  do {
    const page: RepositoryPage = await repositories.list(viewer, { ...which, limit: pageSize, after });
    yield rows(page.repositories.map((each) => [path(each), each.visibility, time(each.updatedAt)]));
    after = page.next;
  } while (after !== null);
}

function described({ config }: SshDeps, { port }: AuthenticatedSession, { repository, canonical }: Found): string {
  return rows([
    ['name', `${canonical.owner}/${canonical.name}`],
    ['visibility', repository.visibility],
    ['description', repository.description],
    ['default branch', repository.defaultBranch],
    ['created', time(repository.createdAt)],
    ['last push', repository.pushedAt === null ? '' : time(repository.pushedAt)],
    ['clone', cloneAddress(config, port, canonical)],
  ]);
}

function greeting(username: string, { repositories, next }: RepositoryPage): string {
  const lines = repositories.map((each) => `  ${path(each)}  ${each.visibility.toLowerCase()}`);
  const more = next === null ? [] : ['  …'];
  const list = lines.length === 0 ? ['You have no repositories yet.'] : ['Your repositories:', ...lines, ...more];
  return [`Hello ${username}. This is Hearth; there is no shell here.`, '', ...list, '', 'More: ssh … help', ''].join(
    '\n',
  );
}

function rows(cells: string[][]): string {
  return cells.map((row) => `${row.join('\t')}\n`).join('');
}

function path({ owner, name }: ListedRepository): string {
  return `${owner.handle}/${name}`;
}

function time(epochMs: number): string {
  return new Date(epochMs).toISOString().replace(/\.\d+Z$/, 'Z');
}

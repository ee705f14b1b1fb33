import type { Command } from 'commander';
import { Argument } from 'commander';
import type { Modules } from '../../app/index.ts';
import type { FollowSubject, ShownFollower } from '../../federation/index.ts';
import { conflict, invalid, notFound } from '../../kernel/index.ts';
import type { Action, Run } from '../action.ts';
import { addNoun, withExamples } from '../help.ts';
import { isoOrNull, never } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import { readScope } from './ci-scope.ts';

/** `hearth federation follower …`: followers from other servers, and follow requests. */
export function addFollowerCommands(federation: Command, run: Run): void {
  const follower = addNoun(federation, 'follower', 'followers from other servers, and follow requests');
  const command = (name: string, description: string): Command =>
    follower.command(name).description(description).argument('<subject>', 'owner/name, user or organisation');
  withExamples(
    command('list', 'list followers, newest first').action(run(listFollowers)),
    'hearth federation follower list alice/garden',
  );
  withExamples(
    command('remove', "remove a follower, or decline a follow request; the follower's server is notified")
      .alias('delete')
      .argument('<actor>', "follower's URL or handle, as shown in the list")
      .action(run(removeFollower)),
    'hearth federation follower remove alice/garden carol@social.example.org',
  );
  withExamples(
    command('requests', 'list pending follow requests, the oldest hundred').action(run(listRequests)),
    'hearth federation follower requests alice',
  );
  withExamples(
    command('accept', 'accept a follow request')
      .argument('<actor>', "follower's URL or handle, as shown in the requests")
      .action(run(acceptRequest)),
    'hearth federation follower accept alice carol@social.example.org',
  );
  withExamples(
    command('approval', 'show or set whether new followers need approval')
      .addArgument(new Argument('[choice]', 'new value; if omitted, print the current one').choices(['on', 'off']))
      .action(run(approval)),
    'hearth federation follower approval acme',
    'hearth federation follower approval acme on',
  );
}

const perPage = 500;

async function subjectOf(modules: Modules, text: string): Promise<FollowSubject> {
  const scope = await readScope(modules, text);
  if (scope.kind === 'instance')
    throw invalid('usage', 'Only repositories, users and organisations have followers, not the server.');
  return scope;
}

async function allFollowers({ federation }: Modules, subject: FollowSubject): Promise<ShownFollower[]> {
  const all: ShownFollower[] = [];
  for (;;) {
    const { followers } = await federation.listSubjectFollowers(subject, { limit: perPage, skip: all.length });
    all.push(...followers);
    if (followers.length < perPage) return all;
  }
}

const requestsOf = async ({ federation }: Modules, subject: FollowSubject): Promise<ShownFollower[]> =>
  (await federation.listSubjectFollowers(subject, { limit: 1, skip: 0 })).requests;

const columns: Column<ShownFollower>[] = [
  { title: 'HANDLE', cell: ({ handle }) => handle, whole: true },
  { title: 'ACTOR', cell: ({ actorId }) => actorId, whole: true },
  { title: 'SINCE', cell: ({ since }) => never(since) },
];

/** In the shape of the API. */
const toJson = ({ actorId: actor, handle, url, host, since }: ShownFollower) => ({
  actor,
  handle,
  url,
  host,
  createdAt: isoOrNull(since),
});

const listFollowers: Action<object, [string]> = async (cli, _options, text) => {
  const modules = await cli.openModules();
  const followers = await allFollowers(modules, await subjectOf(modules, text));
  cli.output.list(followers, columns, ['follower', 'followers'], toJson);
};

const listRequests: Action<object, [string]> = async (cli, _options, text) => {
  const modules = await cli.openModules();
  const requests = await requestsOf(modules, await subjectOf(modules, text));
  cli.output.list(requests, columns, ['request', 'requests'], toJson);
};

/** The follower with this URL or handle. Handles come from other servers, so two followers may have the same. */
function findActor(rows: readonly ShownFollower[], text: string): ShownFollower {
  const wanted = text.replace(/^(acct:)?@?/i, '');
  const [found, another] = rows.filter(({ actorId, handle }) => actorId === text || handle === wanted);
  if (found === undefined) throw notFound('no_such_follower', `No follower or follow request matches ${text}.`);
  if (another !== undefined)
    throw conflict('ambiguous_follower', `Several followers match ${text}. Use the actor's URL instead.`);
  return found;
}

const removeFollower: Action<object, [string, string]> = async (cli, _options, text, actor) => {
  const modules = await cli.openModules();
  const subject = await subjectOf(modules, text);
  const rows = [...(await requestsOf(modules, subject)), ...(await allFollowers(modules, subject))];
  const found = findActor(rows, actor);
  await modules.federation.removeFollower(subject, found.actorId);
  cli.output.result(`${found.handle} does not follow ${text}.`, { ...toJson(found), removed: true });
};

const acceptRequest: Action<object, [string, string]> = async (cli, _options, text, actor) => {
  const modules = await cli.openModules();
  const subject = await subjectOf(modules, text);
  const found = findActor(await requestsOf(modules, subject), actor);
  await modules.federation.acceptFollower(subject, found.actorId);
  cli.output.result(`${found.handle} follows ${text}.`, { ...toJson(found), accepted: true });
};

const approval: Action<object, [string, 'on' | 'off' | undefined]> = async (cli, _options, text, choice) => {
  const modules = await cli.openModules();
  const subject = await subjectOf(modules, text);
  if (choice !== undefined) await modules.federation.setApproval(subject, choice === 'on');
  const { approves } = await modules.federation.listSubjectFollowers(subject, { limit: 1, skip: 0 });
  cli.output.show([['Approval', approves ? 'on' : 'off']], { approvesFollowers: approves });
};

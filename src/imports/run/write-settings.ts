import { In } from 'typeorm';
import { localAdministrator } from '../../access/index.ts';
import { isRefusal } from '../../kernel/index.ts';
import type { GrantInput, RuleInput } from '../../repositories/index.ts';
import { webhookEvents, webhookKinds } from '../../webhooks/index.ts';
import type { WebhookEvent } from '../../webhooks/index.ts';
import type { SourceHook, SourceNamed, SourceRule } from '../sources/source.ts';
import type { RunContext } from '../context/run-context.ts';
import { accountsOf } from '../people/accounts-of.ts';
import { teamNameFrom } from '../people/team-name.ts';
import { problemSchema } from '../schema/import-schema.ts';
import { isPokeUrl } from '../watch/poke-import.ts';
import { writeExtras } from './write-extras.ts';

/**
 * Writes rules, webhooks and the list of manual steps. Rules and webhooks in the first run only, or in the first one
 * whose token may read them: later they are set here. A run that compares everything looks again who is known by proof.
 */
export async function writeSettings(context: RunContext): Promise<void> {
  const { deps, source, row, tell, renew } = context;
  if (row.run > 1 && !row.isFull) return;
  const hooks = (await source.hooks()).filter(({ url }) => !isPokeUrl(deps, url));
  const toDo = await source.toDo();
  const isFirst = async (lists: readonly string[]): Promise<boolean> =>
    row.run === 1 || (await deps.db.read.existsBy(problemSchema, { importId: row.id, item: In(lists) }));
  const [takesRules, takesHooks] = [await isFirst(ruleLists), await isFirst(['webhooks'])];
  const rules = takesRules ? await source.rules() : [];
  for (const what of ['to do', 'webhooks', ...otherLists, ...(takesRules ? ruleLists : [])]) renew(what);
  await writeExtras(context);
  await writeRules(context, rules);
  if (takesHooks) await writeHooks(context, hooks);
  await tellHooks(context, hooks);
  for (const line of toDo) tell('to do', line);
}

/** Lists for which a token may lack rights, by the names of their lines in the report. */
const ruleLists = ['rules of branches', 'rules of tags', 'approvals'];
const otherLists = [
  ...['secrets', 'variables', 'collaborators', 'members', 'deploy keys', 'packages'],
  ...['stars', 'stargazers', 'subscribers', 'labels of the organisation'],
];

/** What is switched off here waits for its secret, which no source exports. */
async function tellHooks({ deps, located, tell }: RunContext, hooks: readonly SourceHook[]): Promise<void> {
  const here = await deps.webhooks.list({ kind: 'repository', id: located.repository.id });
  for (const { url } of hooks)
    if (here.some((each) => !each.isActive && each.url === URL.parse(url)?.href))
      tell('to do', `Set the secret of the webhook ${url.slice(0, 150)} and switch it on.`);
}

async function writeRules(context: RunContext, rules: readonly SourceRule[]): Promise<void> {
  const { deps } = context;
  for (const rule of rules) {
    const what = `rule ${rule.pattern}`;
    await attempt(context, what, async () => {
      const input = {
        target: rule.target,
        pattern: rule.pattern,
        signed: rule.signed,
        ...(await limitsOf(context, rule)),
      };
      const { owner, name } = await context.at();
      await deps.repositories.rules.add(localAdministrator, owner, name, input, { leavesOutUnknown: true });
    });
  }
}

/** Where a source names the only users who may, its jobs and deploy keys may not. */
const closed = { tasks: false, deployKeys: false };

async function limitsOf(context: RunContext, rule: SourceRule): Promise<Pick<RuleInput, 'grants' | 'merging'>> {
  const grant = async (named: SourceNamed | null | undefined, act: string, level: string): Promise<GrantInput> =>
    named == null ? { level } : { level: 'nobody', ...closed, ...(await namedHere(context, rule, named, act)) };
  const force = rule.allowsForce ? await grant(rule.forcers, 'force-push', 'write') : { level: 'nobody' };
  if (rule.target === 'tag') {
    const named = rule.forbidsPushes && rule.pushers ? await namedHere(context, rule, rule.pushers, 'create tags') : {};
    const may = rule.forbidsPushes ? { level: 'admin', ...closed, ...named } : { level: 'write' };
    return { grants: { push: may, force, create: may, delete: may } };
  }
  const push = rule.forbidsPushes
    ? { level: 'nobody', ...closed }
    : await grant(rule.pushers, 'push', rule.pushLevel ?? 'write');
  const approvers = rule.approvers && (await namedHere(context, rule, rule.approvers, 'approve'));
  return {
    grants: { push, force, ...(rule.pushers && { create: push }) },
    merging: {
      grant: await grant(rule.mergers, 'merge', 'write'),
      approvals: Math.min(rule.approvals, 20),
      approvers: approvers ? { isOn: true, people: approvers.people, teams: approvers.teams } : { isOn: false },
      approvalsSurvive: rule.dismissesStale ? 'nothing' : 'anything',
      checks: rule.checks,
    },
  };
}

/**
 * The users named by a rule who are known here by proof, and the teams with the same names. If none is known, no one
 * may: a partly imported limit does not become weaker.
 */
async function namedHere(
  context: RunContext,
  { pattern }: SourceRule,
  { people, teams, deployKeys = false }: SourceNamed,
  act: string,
): Promise<{ people: string[]; teams: string[]; deployKeys: boolean }> {
  const { deps, row, tell } = context;
  const where = `among those who may ${act} in the rule ${pattern}`;
  const accounts = await accountsOf(deps, row.host, people);
  for (const { login } of people)
    if (!accounts.has(login)) tell('to do', `Name ${login} ${where}, if it is the same person here.`);
  const teamsHere = teams.length === 0 ? new Set() : await teamsOfOwner(context);
  const names = teams.map(teamNameFrom);
  for (const name of names) if (!teamsHere.has(name.toLowerCase())) tell('to do', `Name the team ${name} ${where}.`);
  const known = [...accounts.values()].flatMap(({ username }) => username ?? []);
  return {
    people: [...new Set(known)],
    teams: names.filter((name) => teamsHere.has(name.toLowerCase())),
    deployKeys,
  };
}

/** Lowercase names of the teams of the owner; a person has none. */
async function teamsOfOwner({ deps, located }: RunContext): Promise<Set<string>> {
  const { kind, handle } = located.owner;
  if (kind !== 'organisation') return new Set();
  return new Set(
    (await deps.organisations.teams.list(localAdministrator, handle)).map(({ name }) => name.toLowerCase()),
  );
}

/** Gitea's events that have another name here. */
const eventNames: Readonly<Record<string, readonly WebhookEvent[]>> = {
  pull_request_review: ['pull_request_review_approved', 'pull_request_review_rejected', 'pull_request_review_comment'],
  pull_request_only: ['pull_request'],
  issues_only: ['issues'],
  check_run: ['run'],
  workflow_run: ['run'],
};

/** Created as inactive: their secrets are not exported by the source. */
async function writeHooks(context: RunContext, hooks: readonly SourceHook[]): Promise<void> {
  const { deps, located } = context;
  const scope = { kind: 'repository', id: located.repository.id } as const;
  const there = new Set((await deps.webhooks.list(scope)).map(({ url }) => url));
  for (const hook of hooks)
    await attempt(context, `webhook ${hook.url.slice(0, 150)}`, async () => {
      if (there.has(URL.parse(hook.url)?.href ?? '')) return;
      const known = hook.events.flatMap((event) => eventNames[event] ?? event);
      const events = [...new Set(known)].filter((event) => (webhookEvents as readonly string[]).includes(event));
      const kind = webhookKinds.find((each) => each === hook.kind) ?? 'gitea';
      await deps.webhooks.add(localAdministrator, scope, {
        url: hook.url,
        events: events.length === 0 ? ['push'] : events,
        isActive: false,
        kind,
        contentType: hook.contentType === 'form' ? 'form' : 'json',
        branchFilter: hook.branchFilter,
      });
    });
}

/** A refusal becomes a line of the report. */
async function attempt({ tell }: RunContext, what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isRefusal(error)) throw error;
    if (error.reason !== 'rule_exists') tell(what, error.message);
  }
}

import type { Command } from 'commander';
import { localAdministrator, namesOfGrant, noMergeConditions, ruleActs, usernamesOf } from '../../access/index.ts';
import type { RuleAct } from '../../access/index.ts';
import { invalid, notFound } from '../../kernel/index.ts';
import type { GrantInput, ListedRule } from '../../repositories/index.ts';
import type { Action, Run } from '../action.ts';
import { addNoun, withExamples } from '../help.ts';
import { isoOrNull } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import { findRepository } from './find-repository.ts';

const who = 'write, admin, owner or nobody, usernames and teams: admin,bob,acme/reviewers';

/** `hearth repo rule …`: who may push to which branches and tags. */
export function addRuleCommands(repo: Command, run: Run): void {
  const rule = addNoun(repo, 'rule', 'rules for branches and tags');
  withExamples(
    rule
      .command('list')
      .description('list the rules for branches and tags')
      .argument('<owner/name>', 'repository')
      .action(run(listRules)),
    'hearth repo rule list alice/garden',
  );
  withExamples(
    rule
      .command('add')
      .description('add a rule; without options, it forbids force pushes and deletion')
      .argument('<owner/name>', 'repository')
      .argument('<pattern>', 'name or pattern, such as release/*; ~DEFAULT_BRANCH for the default branch')
      .option('--tag', 'rule for tags instead of branches')
      .option('--push <who>', `who can push: ${who}`)
      .option('--force <who>', 'who can force push or move a tag')
      .option('--create <who>', 'who can create')
      .option('--delete <who>', 'who can delete')
      .option('--tasks <acts>', 'actions that CI jobs can perform: push, force, create, delete, or none', 'push,create')
      .option(
        '--deploy-keys <acts>',
        'actions that deploy keys with write access can perform (default: actions open to everyone with write access)',
      )
      .option('--linear', 'refuse merge commits')
      .option('--signed', 'refuse commits without a verified signature')
      .option('--merge <who>', `who can merge pull requests: ${who}`)
      .option('--approvals <number>', 'approvals required to merge')
      .option('--approvers <who>', 'only approvals of these users and teams count: bob,acme/reviewers')
      .option('--owners', 'require approval from code owners')
      .option('--threads', 'require all threads to be resolved')
      .option('--check <names>', 'required checks, separated by commas; build* matches all names that start with build')
      .option('--up-to-date', 'require the head to contain the tip of the base branch')
      .option('--merge-queue', 'require a merge queue')
      .option('--styles <styles>', 'allowed merge methods: merge, squash, rebase, forward')
      .option('--admins-pass', 'administrators can merge without meeting these requirements')
      .action(run(addRule)),
    "hearth repo rule add alice/garden 'release/*' --push admin,bob",
    "hearth repo rule add alice/garden 'v*' --tag --create owner",
    'hearth repo rule add alice/garden main --approvals 1 --check build,test',
  );
  withExamples(
    rule
      .command('remove')
      .alias('delete')
      .description('remove a rule')
      .argument('<owner/name>', 'repository')
      .argument('<pattern>', 'pattern of the rule')
      .option('--tag', 'a rule for tags')
      .option('--dry-run', 'only show what would be removed')
      .action(run(removeRule)),
    "hearth repo rule remove alice/garden 'release/*'",
  );
}

/**
 * `admin,bob`: the permitted role and users, `tasks` and `deploy-keys`. The level `write` includes deploy keys with
 * write access, so their exclusion is shown instead.
 */
function describe(rule: ListedRule, act: RuleAct | 'merge'): string {
  if (rule.target === 'TAG' && (act === 'push' || act === 'merge')) return '';
  const { level, tasks, deployKeys = false } = act === 'merge' ? rule.merging.grant : rule.grants[act];
  const isForKeys = level !== 'write' && deployKeys;
  const named = [...usernamesOf(rule.named[act]), ...rule.teams[act]];
  const parts = [
    ...(level === 'nobody' && named.length + Number(tasks) + Number(isForKeys) > 0 ? [] : [level]),
    ...named,
  ];
  const without = act !== 'merge' && level === 'write' && !deployKeys ? ['no-deploy-keys'] : [];
  return [...parts, ...(tasks ? ['tasks'] : []), ...(isForKeys ? ['deploy-keys'] : []), ...without].join(',');
}

const columns: Column<ListedRule>[] = [
  { title: 'PATTERN', cell: ({ pattern }) => pattern, whole: true },
  { title: 'FOR', cell: ({ target }) => (target === 'TAG' ? 'tags' : 'branches') },
  { title: 'PUSH', cell: (rule) => describe(rule, 'push') },
  { title: 'FORCE', cell: (rule) => describe(rule, 'force') },
  { title: 'CREATE', cell: (rule) => describe(rule, 'create') },
  { title: 'DELETE', cell: (rule) => describe(rule, 'delete') },
  { title: 'REQUIRES', cell: (rule) => requirements(rule).join(',') },
  { title: 'MERGE', cell: (rule) => describe(rule, 'merge') },
];

const approversOf = ({ named, teams }: ListedRule): string[] => [...usernamesOf(named.approve), ...teams.approve];

const requirements = (rule: ListedRule): string[] => {
  const { linear, signed, merging } = rule;
  return [
    linear && 'linear',
    signed && 'signed',
    merging.approvals > 0 && `${merging.approvals} approvals`,
    merging.approvers !== null && `approvers ${approversOf(rule).join('/') || 'nobody'}`,
    merging.ownersApprove && 'owners',
    merging.threadsResolved && 'threads',
    ...merging.checks,
    merging.upToDate === 'yes' && 'up to date',
    merging.upToDate === 'queue' && 'merge queue',
    merging.styles.length < noMergeConditions.styles.length && merging.styles.join('/').toLowerCase(),
  ].filter((word) => typeof word === 'string');
};

const toJson = (rule: ListedRule): object => ({
  pattern: rule.pattern,
  target: rule.target.toLowerCase(),
  position: rule.position,
  linear: rule.linear,
  signed: rule.signed,
  ...Object.fromEntries(
    ruleActs.map((act) => [
      act,
      {
        level: rule.grants[act].level,
        people: usernamesOf(rule.named[act]),
        teams: rule.teams[act],
        tasks: rule.grants[act].tasks,
        deployKeys: rule.grants[act].deployKeys,
      },
    ]),
  ),
  ...(rule.target === 'BRANCH' && {
    merging: {
      ...rule.merging,
      grant: undefined,
      level: rule.merging.grant.level,
      people: usernamesOf(rule.named.merge),
      teams: rule.teams.merge,
      tasks: rule.merging.grant.tasks,
      approvers:
        rule.merging.approvers === null ? null : { people: usernamesOf(rule.named.approve), teams: rule.teams.approve },
      styles: rule.merging.styles.map((style) => style.toLowerCase()),
    },
  }),
  updatedAt: isoOrNull(rule.updatedAt),
});

const listRules: Action<object, [string]> = async (cli, _options, text) => {
  const modules = await cli.openModules();
  const { owner, name } = (await findRepository(modules, text)).canonical;
  const rules = await modules.repositories.rules.list(localAdministrator, owner, name);
  cli.output.list(rules, columns, ['rule', 'rules'], toJson);
};

interface AddOptions extends Partial<Record<RuleAct, string>> {
  tag?: true;
  linear?: true;
  signed?: true;
  tasks: string;
  deployKeys?: string;
  merge?: string;
  approvals?: string;
  approvers?: string;
  owners?: true;
  threads?: true;
  check?: string;
  upToDate?: true;
  mergeQueue?: true;
  styles?: string;
  adminsPass?: true;
}

/** Levels of a rule that sets none. */
const usualLevels: Readonly<Record<RuleAct, string>> = {
  push: 'write',
  force: 'nobody',
  create: 'write',
  delete: 'nobody',
};

const roles = ['write', 'admin', 'owner', 'nobody'];

/** Parses `admin,bob,acme/reviewers`. Without a role, only the named users and teams have permission. */
function readGrant(text: string | undefined): GrantInput {
  if (text === undefined) return {};
  const words = text.split(',').map((word) => word.trim());
  const levels = words.filter((word) => roles.includes(word));
  if (levels.length > 1) throw invalid('usage', `Choose one of ${roles.join(', ')}.`);
  return { level: levels[0] ?? 'nobody', ...namesOfGrant(words.filter((word) => !roles.includes(word))) };
}

/** Parses `push,create`. */
function readActs(who: string, text: string): string[] {
  const acts = text.split(',').map((word) => word.trim());
  const unknown = acts.find((word) => word !== 'none' && !ruleActs.some((act) => act === word));
  if (unknown !== undefined) throw invalid('usage', `${who} can ${ruleActs.join(', ')} or none, not ${unknown}.`);
  return acts;
}

const addRule: Action<AddOptions, [string, string]> = async (cli, options, text, pattern) => {
  const tasks = readActs('Tasks', options.tasks);
  const deployKeys = options.deployKeys === undefined ? null : readActs('Deploy keys', options.deployKeys);
  const modules = await cli.openModules();
  const { owner, name } = (await findRepository(modules, text)).canonical;
  const target = options.tag ? 'tag' : 'branch';
  const grant = (act: RuleAct): GrantInput => {
    const given = readGrant(options[act]);
    const { level = usualLevels[act] } = given;
    return { ...given, tasks: tasks.includes(act), deployKeys: deployKeys?.includes(act) ?? level === 'write' };
  };
  await modules.repositories.rules.add(localAdministrator, owner, name, {
    target,
    pattern,
    linear: options.linear === true,
    signed: options.signed === true,
    grants: { push: grant('push'), force: grant('force'), create: grant('create'), delete: grant('delete') },
    merging: {
      grant: readGrant(options.merge),
      approvals: options.approvals,
      ...(options.approvers !== undefined && {
        approvers: { isOn: true, ...namesOfGrant(options.approvers.split(',').map((word) => word.trim())) },
      }),
      ownersApprove: options.owners,
      threadsResolved: options.threads,
      checks: options.check?.split(','),
      upToDate: options.mergeQueue ? 'queue' : options.upToDate,
      styles: options.styles?.split(','),
      ...(options.adminsPass && { adminsToo: false }),
    },
  });
  cli.output.result(`Added the rule ${pattern} for ${target === 'tag' ? 'tags' : 'branches'} in ${owner}/${name}.`, {
    owner,
    name,
    target,
    pattern,
  });
};

const removeRule: Action<{ tag?: true; dryRun?: true }, [string, string]> = async (
  cli,
  { tag, dryRun },
  text,
  pattern,
) => {
  const modules = await cli.openModules();
  const { owner, name } = (await findRepository(modules, text)).canonical;
  const target = tag ? 'TAG' : 'BRANCH';
  const rules = await modules.repositories.rules.list(localAdministrator, owner, name);
  const rule = rules.find((each) => each.target === target && each.pattern === pattern);
  if (rule === undefined)
    throw notFound('rule_not_found', `${owner}/${name} does not have this kind of rule for ${pattern}.`);
  const result = { owner, name, target: target.toLowerCase(), pattern };
  if (dryRun) return cli.output.result(`Would remove the rule ${pattern} from ${owner}/${name}.`, result);
  await modules.repositories.rules.remove(localAdministrator, owner, name, rule.id);
  cli.output.result(`Removed the rule ${pattern} from ${owner}/${name}.`, result);
};

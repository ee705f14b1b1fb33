import type { PlaceName } from './check-expression.ts';

/**
 * Allowed content at a place of a workflow file: GitHub's "Workflow syntax", and the keys of Gitea and Forgejo that
 * stock runners honour. The parser checks types of values.
 */
export type Shape =
  /** Texts with expressions over the contexts of a place; mappings may have any keys. */
  | {
      kind: 'value';
      place: PlaceName | null;
      isCondition?: boolean;
      /** Expressions may return any type; null accepts all. */
      type?: ValueType | null;
      /** Allowed texts. */
      oneOf?: readonly string[];
      /** Whether other texts only have no effect, because GitHub accepts them. */
      isLenient?: boolean;
    }
  | {
      kind: 'keys';
      /** Name in messages: `"push"`. */
      name: string;
      keys: { readonly [key: string]: Shape };
      /** Keys of GitHub and other forges without effect here, with an explanation. */
      ignored?: { readonly [key: string]: string };
      /** Keys with an effect, with a remark. */
      remarks?: { readonly [key: string]: string };
      /** Keys of other places, which GitHub ignores here. */
      elsewhere?: readonly string[];
      /** Keys that GitHub requires. */
      required?: readonly string[];
      /** Whether keys starting with `x-` hold anchors. */
      hasAnchors?: boolean;
    }
  /** A mapping whose keys the author chooses. */
  | { kind: 'entries'; of: Shape }
  | { kind: 'list'; of: Shape }
  /** The shape depends on the key: events under `on`. */
  | { kind: 'events' }
  /** The shape depends on the keys: a job, or a job that calls a workflow. */
  | { kind: 'job' };

export type ValueType = 'text' | 'texts' | 'number' | 'boolean';

const value = (place: PlaceName | null = null, isCondition = false): Shape => ({ kind: 'value', place, isCondition });
const typed = (type: ValueType, place: PlaceName | null = null, more: object = {}): Shape => ({
  kind: 'value',
  place,
  type,
  ...more,
});
const plain = value();
const text = typed('text');
const texts = typed('texts');
const entries = (of: Shape): Shape => ({ kind: 'entries', of });
const list = (of: Shape): Shape => ({ kind: 'list', of });
const keysOf = (name: string, keys: { readonly [key: string]: Shape }, more: object = {}): Shape => ({
  kind: 'keys',
  name,
  keys,
  ...more,
});
const all = (names: string, of: Shape = text): { [key: string]: Shape } =>
  Object.fromEntries(names.split(' ').map((name) => [name, of]));

const words = (list: string): readonly string[] => list.split(' ');

const refKeys = all('branches branches-ignore', texts);
const pathKeys = all('paths paths-ignore', texts);
/** Filters of some events; GitHub ignores them on others. */
const filters = words('branches branches-ignore tags tags-ignore paths paths-ignore types workflows');
const event = (name: string, keys: { readonly [key: string]: Shape }, more: object = {}): Shape =>
  keysOf(name, keys, { elsewhere: filters, ...more });
const typesOf = (list: string): { readonly [key: string]: Shape } => ({
  types: typed('texts', null, { oneOf: words(list), isLenient: true }),
});

const pullTypes = typesOf(
  'assigned unassigned labeled unlabeled opened edited closed reopened synchronize converted_to_draft locked unlocked enqueued dequeued milestoned demilestoned ready_for_review review_requested review_request_removed auto_merge_enabled auto_merge_disabled',
);
const description = all('description deprecationMessage');
const required = { required: typed('boolean') };

const events: { readonly [event: string]: Shape } = {
  push: event('push', { ...refKeys, ...all('tags tags-ignore', texts), ...pathKeys }),
  pull_request: event('pull_request', { ...pullTypes, ...refKeys, ...pathKeys }),
  pull_request_target: event('pull_request_target', { ...pullTypes, ...refKeys, ...pathKeys }),
  merge_group: event('merge_group', { ...typesOf('checks_requested destroyed'), ...refKeys }),
  schedule: list(event('schedule', all('cron timezone'), { required: ['cron'] })),
  workflow_dispatch: event('workflow_dispatch', {
    inputs: entries(
      keysOf('input', {
        ...description,
        ...required,
        default: plain,
        type: typed('text', null, { oneOf: words('string boolean number choice environment') }),
        options: texts,
      }),
    ),
  }),
  workflow_call: event('workflow_call', {
    inputs: entries(
      keysOf('input', {
        ...description,
        ...required,
        type: typed('text', null, { oneOf: words('string boolean number') }),
        default: value('default'),
      }),
    ),
    outputs: entries(
      keysOf('output', { ...all('description'), value: typed('text', 'callOutput') }, { required: ['value'] }),
    ),
    secrets: entries(keysOf('secret', { ...all('description'), ...required })),
  }),
  workflow_run: event('workflow_run', {
    ...typesOf('completed requested in_progress'),
    workflows: texts,
    ...refKeys,
  }),
  image_version: event('image_version', { ...typesOf('ready'), ...all('names versions', texts) }),
  branch_protection_rule: event('branch_protection_rule', typesOf('created edited deleted')),
  check_run: event('check_run', typesOf('created rerequested completed requested_action')),
  check_suite: event('check_suite', typesOf('completed')),
  discussion: event(
    'discussion',
    typesOf(
      'created edited deleted transferred pinned unpinned labeled unlabeled locked unlocked category_changed answered unanswered',
    ),
  ),
  discussion_comment: event('discussion_comment', typesOf('created edited deleted')),
  issue_comment: event('issue_comment', typesOf('created edited deleted')),
  issues: event(
    'issues',
    typesOf(
      'opened edited deleted transferred pinned unpinned closed reopened assigned unassigned labeled unlabeled locked unlocked milestoned demilestoned typed untyped',
    ),
  ),
  label: event('label', typesOf('created edited deleted')),
  milestone: event('milestone', typesOf('created closed opened edited deleted')),
  project: event('project', typesOf('created closed reopened edited deleted updated')),
  project_card: event('project_card', typesOf('created moved converted edited deleted')),
  project_column: event('project_column', typesOf('created updated moved deleted')),
  pull_request_review: event('pull_request_review', typesOf('submitted edited dismissed')),
  pull_request_review_comment: event('pull_request_review_comment', typesOf('created edited deleted')),
  pull_request_comment: event('pull_request_comment', typesOf('created edited deleted')),
  registry_package: event('registry_package', typesOf('published updated')),
  release: event('release', typesOf('published unpublished created edited deleted prereleased released')),
  watch: event('watch', typesOf('started')),
  // The sender chooses the types.
  repository_dispatch: event('repository_dispatch', { types: texts }),
};

/** Events of GitHub without settings of their own. */
const otherEvents = words(
  'create delete deployment deployment_status fork gollum page_build public repository_vulnerability_alert status sub_issues',
);
/** Events that only Gitea and Forgejo have. */
export const eventsOfOthers: readonly string[] = words(
  'package wiki pull_request_assign pull_request_label pull_request_milestone pull_request_sync pull_request_review_approved pull_request_review_rejected pull_request_review_request issue_assign issue_label issue_milestone workflow_job',
);

export const knownEvents: readonly string[] = [...Object.keys(events), ...otherEvents];

/** The settings of an event; null for an unknown one. */
export const eventShape = (name: string): Shape | null =>
  events[name] ?? (otherEvents.includes(name) ? event(name, all('types', texts)) : null);

const levels = typed('text', null, { oneOf: ['read', 'write', 'none'] });
const permissions = keysOf(
  'permissions',
  {
    ...all(
      'actions artifact-metadata attestations checks code-quality contents deployments discussions issues packages pages pull-requests repository-projects security-events statuses',
      levels,
    ),
    'id-token': typed('text', null, { oneOf: ['write', 'none'] }),
    ...all('models vulnerability-alerts', typed('text', null, { oneOf: ['read', 'none'] })),
  },
  {
    ignored: Object.fromEntries(
      ['code', 'releases', 'wiki', 'projects'].map((name) => [name, 'Only other forges have this permission.']),
    ),
  },
);
const concurrencyAt = (place: PlaceName): Shape =>
  keysOf(
    'concurrency',
    {
      group: typed('text', place),
      'cancel-in-progress': typed('boolean', place),
      queue: typed('text', place, { oneOf: ['single', 'max'] }),
    },
    { required: ['group'] },
  );
const defaultsAt = (place: PlaceName): Shape =>
  keysOf('defaults', { run: keysOf('run', all('shell working-directory', typed('text', place))) });

const container = keysOf('container', {
  image: typed('text', 'container'),
  credentials: keysOf('credentials', all('username password', typed('text', 'credentials'))),
  env: value('containerEnv'),
  ...all('ports volumes', typed('texts', 'container')),
  ...all('options command entrypoint', value('container')),
});

const inForeground = 'Neither Gitea’s nor Forgejo’s runner can do this: a job with it fails.';
const stepKeys = {
  id: text,
  if: value('stepIf', true),
  ...all('name run working-directory shell', typed('text', 'step')),
  uses: text,
  ...all('with env', value('step')),
  'continue-on-error': typed('boolean', 'step'),
  'timeout-minutes': typed('number', 'step'),
};
const stepOf = (keys: { readonly [key: string]: Shape }): Shape =>
  keysOf('step', keys, {
    remarks: {
      background: inForeground,
      wait: inForeground,
      'wait-all': inForeground,
      cancel: inForeground,
      parallel: 'Runners run these steps one after the other.',
    },
  });
const step = stepOf({
  ...stepKeys,
  background: typed('boolean'),
  ...all('wait cancel', texts),
  'wait-all': plain,
  parallel: list(stepOf(stepKeys)),
});

const environment = keysOf(
  'environment',
  {
    name: typed('text', 'environment'),
    url: typed('text', 'environmentUrl'),
    deployment: typed('boolean', 'environment'),
  },
  { required: ['name'] },
);

const ofEveryJob = {
  name: typed('text', 'jobName'),
  permissions,
  needs: texts,
  if: value('jobIf', true),
  concurrency: concurrencyAt('jobConcurrency'),
  strategy: keysOf('strategy', {
    matrix: value('strategy'),
    'fail-fast': typed('boolean', 'strategy'),
    'max-parallel': typed('number', 'strategy'),
  }),
} as const;

export const jobShape: Shape = keysOf(
  'job',
  {
    ...ofEveryJob,
    'runs-on': keysOf('runs-on', { group: typed('text', 'runsOn'), labels: typed('texts', 'runsOn') }),
    environment,
    outputs: value('jobOutputs'),
    env: value('jobEnv'),
    defaults: defaultsAt('jobDefaults'),
    steps: list(step),
    'timeout-minutes': typed('number', 'jobValue'),
    'continue-on-error': typed('boolean', 'jobValue'),
    container,
    services: entries(container),
  },
  {
    ignored: {
      snapshot: 'Images of runners are not made here.',
      'cancel-timeout-minutes': 'A runner decides how long it takes to end.',
      'enable-openid-connect': 'Here "permissions: id-token: write" gives identity tokens.',
    },
  },
);

/** A job that calls a workflow. */
export const callShape: Shape = keysOf(
  'job with "uses"',
  { ...ofEveryJob, uses: text, with: value('jobWith'), secrets: value('jobSecrets') },
  { ignored: { 'enable-openid-connect': 'Here "permissions: id-token: write" gives identity tokens.' } },
);

export const workflowShape: Shape = keysOf(
  'the workflow',
  {
    ...all('name description'),
    'run-name': typed('text', 'runName'),
    on: { kind: 'events' },
    permissions,
    env: value('env'),
    defaults: defaultsAt('defaults'),
    concurrency: concurrencyAt('concurrency'),
    jobs: entries({ kind: 'job' }),
  },
  {
    hasAnchors: true,
    ignored: { 'enable-openid-connect': 'Here "permissions: id-token: write" gives identity tokens.' },
  },
);

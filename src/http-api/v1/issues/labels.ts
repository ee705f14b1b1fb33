import { z } from 'zod';
import type { Viewer } from '../../../access/index.ts';
import { invalid, notFound } from '../../../kernel/index.ts';
import type { Label, LabelScope } from '../../../issues/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { labelPayload, numericId } from '../../../gitea-shapes/index.ts';
import { created, json, listed, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import type { AnyCall, Operation } from '../../operation.ts';
import { issueAt, labelNames, oneIssueAt, repositoryAt, sliceOf } from '../shapes/issues-parts.ts';
import { issueLabels, label, labelEdit, newLabel, numberedPaging } from '../shapes/issues-schemas.ts';

const common = { tag: 'Labels', cost: 'rows' } as const;

/** Owners of labels, with the paths and names of the operations. */
interface Owner {
  /** Below `/api/v1`. */
  at: '/repos/{owner}/{name}' | '/orgs/{org}';
  word: 'Repository' | 'Organisation';
  whose: string;
  read: { access: 'repository:read' | 'anyone'; refuses?: readonly 404[] };
  write:
    | { access: 'repository:read'; scope: 'write'; refuses?: readonly (404 | 409)[] }
    | { access: 'account:admin'; refuses?: readonly (404 | 409)[] };
  scopeOf(call: AnyCall): LabelScope;
  list(call: AnyCall): Promise<Label[]>;
  /** Whether a label is in the list: a label of the organisation is found by its id or name, and listed there. */
  isListed(label: Label, call: AnyCall): boolean;
}

const repositories: Owner = {
  at: '/repos/{owner}/{name}',
  word: 'Repository',
  whose: 'of a repository',
  read: { access: 'repository:read' },
  write: { access: 'repository:read', scope: 'write' },
  scopeOf: ({ found }) => ({ repository: repositoryAt(found!) }),
  list: ({ viewer, found, deps }) => deps.issues.listLabels(viewer, repositoryAt(found!)),
  isListed: (one, { found }) => one.repositoryId === found!.repository.id,
};

const organisations: Owner = {
  at: '/orgs/{org}',
  word: 'Organisation',
  whose: 'of an organisation, for all of its repositories',
  read: { access: 'anyone', refuses: [404] },
  write: { access: 'account:admin', refuses: [404, 409] },
  scopeOf: ({ params }) => ({ organisation: params['org'] ?? '' }),
  list: ({ params, deps }) => deps.issues.listOrganisationLabels(params['org'] ?? ''),
  isListed: () => true,
};

/** A label with URLs of the repository or organisation in the path. */
const shown = (one: Label, { found, params, origin }: AnyCall) => {
  const at = found === null ? { owner: params['org'] ?? '' } : found.canonical;
  return labelPayload(one, { origin, at });
};

/** By id or name. Throws `label_not_found`. */
function pick(labels: readonly Label[], text: string): Label {
  const found =
    labels.find(({ id }) => String(numericId(id)) === text) ??
    labels.find(({ nameFolded }) => nameFolded === text.toLowerCase());
  if (found === undefined) throw notFound('label_not_found', 'Label not found');
  return found;
}

function operationsOf({ at, word, whose, read, write, scopeOf, list, isListed }: Owner): Operation[] {
  const one = `${at}/labels/{label}` as const;
  const callOf = (call: unknown) => call as AnyCall;
  const found = async (call: AnyCall) => pick(await list(call), call.params['label'] ?? '');
  return [
    operation({
      ...common,
      ...read,
      id: `list${word}Labels`,
      method: 'GET',
      path: `${at}/labels`,
      summary: `List the labels ${whose} by name`,
      description: `${word === 'Repository' ? 'Omits organisation labels. ' : ''}Without a page number, all are returned.`,
      status: 200,
      isPaged: true,
      query: z.object({ page: numberedPaging.page, limit: numberedPaging.limit }),
      response: z.array(label),
      async run(call) {
        const labels = (await list(callOf(call))).filter((each) => isListed(each, callOf(call)));
        const { rows, next } = sliceOf(labels, call.query);
        return listed(
          rows.map((each) => shown(each, callOf(call))),
          next,
          labels.length,
        );
      },
    }),
    operation({
      ...common,
      ...write,
      refuses: [...(write.refuses ?? []), 409],
      id: `add${word}Label`,
      method: 'POST',
      path: `${at}/labels`,
      summary: `Add a label ${whose}`,
      status: 201,
      body: newLabel,
      response: label,
      async run(call) {
        const { name, color, description, exclusive } = call.body;
        const added = await callOf(call).deps.issues.addLabel(callOf(call).viewer, scopeOf(callOf(call)), {
          name,
          colour: color,
          description: description ?? '',
          isExclusive: exclusive ?? false,
        });
        return created(shown(added, callOf(call)));
      },
    }),
    operation({
      ...common,
      ...read,
      id: `get${word}Label`,
      method: 'GET',
      path: one,
      summary: 'Get a label by ID or name',
      status: 200,
      response: label,
      run: async (call) => json(shown(await found(callOf(call)), callOf(call))),
    }),
    operation({
      ...common,
      ...write,
      refuses: [...(write.refuses ?? []), 409],
      id: `edit${word}Label`,
      method: 'PATCH',
      path: one,
      summary: 'Edit a label; issues keep it',
      status: 200,
      body: labelEdit,
      response: label,
      async run(call) {
        const before = ownOf(await found(callOf(call)), callOf(call));
        const { name, color, description, exclusive } = call.body;
        const { deps, viewer } = callOf(call);
        await deps.issues.editLabel(viewer, scopeOf(callOf(call)), before.id, {
          name: name ?? before.name,
          colour: color ?? before.colour,
          description: description ?? before.description,
          isExclusive: exclusive ?? before.isExclusive,
        });
        const after = (await list(callOf(call))).find(({ id }) => id === before.id);
        return json(shown(after ?? before, callOf(call)));
      },
    }),
    operation({
      ...common,
      ...write,
      id: `delete${word}Label`,
      method: 'DELETE',
      path: one,
      summary: 'Delete a label and remove it from all issues',
      status: 204,
      async run(call) {
        const { id } = ownOf(await found(callOf(call)), callOf(call));
        await callOf(call).deps.issues.deleteLabel(callOf(call).viewer, scopeOf(callOf(call)), id);
        return noContent();
      },
    }),
  ];
}

/** A repository shows the labels of its organisation but cannot change them. Throws `label_not_found`. */
function ownOf(one: Label, { found }: AnyCall): Label {
  if (found !== null && one.repositoryId !== found.repository.id) throw notFound('label_not_found', 'Label not found');
  return one;
}

export const labelOperations = [...operationsOf(repositories), ...operationsOf(organisations)];

const ofIssue = { ...common, path: `${oneIssueAt}/labels`, response: z.array(label) } as const;
const write = { access: 'repository:read', scope: 'write' } as const;

async function show(
  deps: WebDeps,
  viewer: Viewer,
  at: ReturnType<typeof issueAt>,
  origin: string,
): Promise<ReturnType<typeof labelPayload>[]> {
  const { labels } = await deps.issues.find(viewer, at);
  return labels.map((each) => labelPayload(each, { origin, at }));
}

const listIssueLabels = operation({
  ...ofIssue,
  id: 'listIssueLabels',
  method: 'GET',
  summary: 'List an issue’s labels',
  access: 'repository:read',
  status: 200,
  run: async ({ viewer, found, params, deps, origin }) =>
    json(await show(deps, viewer, issueAt(found, params.number), origin)),
});

/** POST adds, PUT replaces. */
const changing = (id: string, method: 'POST' | 'PUT', summary: string) =>
  operation({
    ...ofIssue,
    ...write,
    id,
    method,
    summary,
    status: 200,
    body: issueLabels,
    async run({ viewer, found, params, body, deps, origin }) {
      const at = issueAt(found, params.number);
      const names = await labelNames(deps, viewer, repositoryAt(found), body.labels);
      await deps.issues.triage(viewer, at, { labels: method === 'PUT' ? names : { add: names } });
      return json(await show(deps, viewer, at, origin));
    },
  });

const addIssueLabels = changing('addIssueLabels', 'POST', 'Add labels to an issue by ID or name');
const setIssueLabels = changing('setIssueLabels', 'PUT', 'Replace an issue’s labels by ID or name');

const clearIssueLabels = operation({
  ...common,
  ...write,
  id: 'clearIssueLabels',
  method: 'DELETE',
  path: ofIssue.path,
  summary: 'Remove all labels from an issue',
  status: 204,
  async run({ viewer, found, params, deps }) {
    await deps.issues.triage(viewer, issueAt(found, params.number), { labels: [] });
    return noContent();
  },
});

const removeIssueLabel = operation({
  ...common,
  ...write,
  id: 'removeIssueLabel',
  method: 'DELETE',
  path: `${ofIssue.path}/{label}`,
  summary: 'Remove a label from an issue by ID or name',
  status: 204,
  refuses: [422],
  async run({ viewer, found, params, deps }) {
    const at = issueAt(found, params.number);
    const { labels } = await deps.issues.find(viewer, at);
    const { name } = pickOn(labels, params.label);
    await deps.issues.triage(viewer, at, { labels: { remove: [name] } });
    return noContent();
  },
});

/** Throws `unknown_label` for a label that the issue does not have. */
function pickOn(labels: readonly Label[], text: string): Label {
  const found = labels.find(
    ({ id, nameFolded }) => String(numericId(id)) === text || nameFolded === text.toLowerCase(),
  );
  if (found === undefined) throw invalid('unknown_label', 'The issue does not have this label.', { field: 'label' });
  return found;
}

export const issueLabelOperations = [
  listIssueLabels,
  addIssueLabels,
  setIssueLabels,
  clearIssueLabels,
  removeIssueLabel,
];

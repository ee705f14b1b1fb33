import { z } from 'zod';
import type { Viewer } from '../../../access/index.ts';
import type { IssueAt } from '../../../issues/index.ts';
import type { Found } from '../../../repositories/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import type { IssuePayload } from '../../../gitea-shapes/index.ts';
import { json } from '../../responses.ts';
import { operation } from '../../operation.ts';
import type { Operation } from '../../operation.ts';
import { issueAt, oneIssueAt, showIssue } from '../shapes/issues-parts.ts';
import { issue, issueMeta } from '../shapes/issues-schemas.ts';

const common = { tag: 'Issues', cost: 'rows' } as const;
const write = { access: 'repository:read', scope: 'write' } as const;

/** One kind of link between issues, seen from one of its ends. */
interface Side {
  word: string;
  part: 'dependencies' | 'blocks' | 'duplicates';
  kind: 'needs' | 'duplicates';
  /** Whether the link begins at the issue in the path. */
  isOutgoing: boolean;
  list: string;
  add: string;
  remove: string;
}

const sides: readonly Side[] = [
  {
    word: 'Dependency',
    part: 'dependencies',
    kind: 'needs',
    isOutgoing: true,
    list: 'List the issues that block an issue',
    add: 'Add a dependency to an issue',
    remove: 'Remove a dependency from an issue',
  },
  {
    word: 'BlockedIssue',
    part: 'blocks',
    kind: 'needs',
    isOutgoing: false,
    list: 'List the issues that an issue blocks',
    add: 'Mark another issue as blocked by this one',
    remove: 'Unmark another issue as blocked by this one',
  },
  {
    word: 'Duplicate',
    part: 'duplicates',
    kind: 'duplicates',
    isOutgoing: true,
    list: 'List the issues that an issue duplicates',
    add: 'Mark an issue as a duplicate',
    remove: 'Unmark an issue as a duplicate',
  },
];

/** The other issue; in this repository if none is named. */
const otherOf = (found: Found, { index, owner, repo }: z.output<typeof issueMeta>): IssueAt => ({
  owner: owner || found.canonical.owner,
  name: repo || found.canonical.name,
  number: index,
});

async function show(deps: WebDeps, viewer: Viewer, at: IssueAt, origin: string): Promise<IssuePayload> {
  const { owner, repository } = await deps.repositories.find(viewer, at.owner, at.name);
  return showIssue(deps, viewer, at, { origin, owner: owner.handle, repository });
}

function operationsOf({ word, part, kind, isOutgoing, list, add, remove }: Side): Operation[] {
  const path = `${oneIssueAt}/${part}` as const;
  const change = async (
    call: { viewer: Viewer; found: Found; body: z.output<typeof issueMeta>; deps: WebDeps; origin: string },
    number: string,
    isOn: boolean,
  ) => {
    const { viewer, found, body, deps, origin } = call;
    const [here, other] = [issueAt(found, number), otherOf(found, body)];
    const [from, to] = isOutgoing ? [here, other] : [other, here];
    if (isOn) await deps.issues.addLink(viewer, from, kind, to);
    else await deps.issues.removeLink(viewer, from, kind, to);
    return json(await show(deps, viewer, here, origin));
  };
  return [
    operation({
      ...common,
      id: `list${word === 'Dependency' ? 'Dependencie' : word}s`,
      method: 'GET',
      path,
      summary: list,
      description: 'Only those visible to the caller.',
      access: 'repository:read',
      status: 200,
      response: z.array(issue),
      async run({ viewer, found, params, deps, origin }) {
        const links = await deps.issues.listLinks(viewer, issueAt(found, params.number));
        const others = links.filter((link) => link.kind === kind && link.isOutgoing === isOutgoing);
        const located = await deps.repositories.locate(others.map((link) => link.issue.repositoryId));
        const shown: IssuePayload[] = [];
        for (const { issue: other } of others) {
          const place = located.get(other.repositoryId);
          if (place === undefined) continue;
          const where = { owner: place.owner.handle, name: place.repository.name, number: other.number };
          const from = { origin, owner: where.owner, repository: place.repository };
          shown.push(await showIssue(deps, viewer, where, from));
        }
        return json(shown);
      },
    }),
    operation({
      ...common,
      ...write,
      id: `add${word}`,
      method: 'POST',
      path,
      summary: add,
      status: 201,
      body: issueMeta,
      response: issue,
      run: (call) => change(call, call.params.number, true),
    }),
    operation({
      ...common,
      ...write,
      id: `remove${word}`,
      method: 'DELETE',
      path,
      summary: remove,
      status: 200,
      body: issueMeta,
      response: issue,
      run: (call) => change(call, call.params.number, false),
    }),
  ];
}

export const linkOperations = sides.flatMap(operationsOf);

import { z } from 'zod';
import type { Viewer } from '../../../access/index.ts';
import { notFound } from '../../../kernel/index.ts';
import type { Milestone, RepositoryAt } from '../../../issues/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { milestonePayload, numericId } from '../../../gitea-shapes/index.ts';
import { created, json, listed, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { repositoryAt, sliceOf } from '../shapes/issues-parts.ts';
import { milestone, milestoneEdit, newMilestone, numberedPaging } from '../shapes/issues-schemas.ts';

const common = { tag: 'Milestones', cost: 'rows' } as const;
const write = { access: 'repository:read', scope: 'write' } as const;
const at = '/repos/{owner}/{name}/milestones';
const one = `${at}/{milestone}` as const;

/** By id or title. Throws `milestone_not_found`. */
async function find(deps: WebDeps, viewer: Viewer, where: RepositoryAt, text: string): Promise<Milestone> {
  const rows = await deps.issues.listMilestones(viewer, where);
  const found =
    rows.find(({ id }) => String(numericId(id)) === text) ??
    rows.find(({ titleFolded }) => titleFolded === text.toLowerCase());
  if (found === undefined) throw notFound('milestone_not_found', 'Milestone not found');
  return found;
}

/** The day of a date or a time. */
export const dayOf = (value: string): string => value.slice(0, value.includes('T') ? 10 : undefined);

export const listMilestones = operation({
  ...common,
  id: 'listMilestones',
  method: 'GET',
  path: at,
  summary: 'List a repository’s milestones',
  description: 'Open milestones by due date, then closed ones. Without a page number, all are returned.',
  access: 'repository:read',
  status: 200,
  isPaged: true,
  query: z.object({
    state: z.enum(['open', 'closed', 'all']).default('open'),
    name: z.string().max(200).optional().describe('Only milestones whose title contains this text'),
    page: numberedPaging.page,
    limit: numberedPaging.limit,
  }),
  response: z.array(milestone),
  async run({ viewer, found, query, deps }) {
    const part = (query.name ?? '').toLowerCase();
    const all = await deps.issues.listMilestones(viewer, repositoryAt(found), query.state);
    const fitting = all.filter(({ titleFolded }) => titleFolded.includes(part));
    const { rows, next } = sliceOf(fitting, query);
    return listed(rows.map(milestonePayload), next, fitting.length);
  },
});

export const addMilestone = operation({
  ...common,
  ...write,
  id: 'addMilestone',
  method: 'POST',
  path: at,
  summary: 'Add a milestone',
  status: 201,
  body: newMilestone,
  response: milestone,
  async run({ viewer, found, body, deps }) {
    const where = repositoryAt(found);
    const { title, description, due_on: dueOn, state } = body;
    const fields = { title, description: description ?? '', dueOn: dayOf(dueOn ?? '') };
    const added = await deps.issues.addMilestone(viewer, where, fields);
    if (state === 'closed') await deps.issues.setMilestoneClosed(viewer, where, added.id, true);
    return created(milestonePayload(await deps.issues.findMilestone(viewer, where, added.id)));
  },
});

export const getMilestone = operation({
  ...common,
  id: 'getMilestone',
  method: 'GET',
  path: one,
  summary: 'Get a milestone by ID or title',
  access: 'repository:read',
  status: 200,
  response: milestone,
  run: async ({ viewer, found, params, deps }) =>
    json(milestonePayload(await find(deps, viewer, repositoryAt(found), params.milestone))),
});

export const editMilestone = operation({
  ...common,
  ...write,
  id: 'editMilestone',
  method: 'PATCH',
  path: one,
  summary: 'Edit, close or reopen a milestone',
  description: 'Omitted fields remain unchanged.',
  status: 200,
  body: milestoneEdit,
  response: milestone,
  async run({ viewer, found, params, body, deps }) {
    const where = repositoryAt(found);
    const before = await find(deps, viewer, where, params.milestone);
    await deps.issues.editMilestone(viewer, where, before.id, {
      title: body.title || before.title,
      description: body.description ?? before.description,
      dueOn: body.due_on == null ? before.dueOn : dayOf(body.due_on),
    });
    if (body.state != null) await deps.issues.setMilestoneClosed(viewer, where, before.id, body.state === 'closed');
    return json(milestonePayload(await deps.issues.findMilestone(viewer, where, before.id)));
  },
});

export const deleteMilestone = operation({
  ...common,
  ...write,
  id: 'deleteMilestone',
  method: 'DELETE',
  path: one,
  summary: 'Delete a milestone and remove it from its issues',
  status: 204,
  async run({ viewer, found, params, deps }) {
    const where = repositoryAt(found);
    const { id } = await find(deps, viewer, where, params.milestone);
    await deps.issues.deleteMilestone(viewer, where, id);
    return noContent();
  },
});

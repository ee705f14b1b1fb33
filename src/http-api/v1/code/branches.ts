import { z } from 'zod';
import { allows } from '../../../access/index.ts';
import type { Viewer } from '../../../access/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { notFound } from '../../../kernel/index.ts';
import type { Found } from '../../../repositories/index.ts';
import { created, json, listed, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { showPayloadCommits } from '../shapes/commit-payloads.ts';
import { pageOfRefs } from './trees-and-archives.ts';
import { branch, numberedPage, paging } from '../shapes/schemas.ts';

const at = '/repos/{owner}/{name}/branches';
const common = { tag: 'Contents', cost: 'objects' } as const;
const read = { ...common, method: 'GET', access: 'repository:read', status: 200 } as const;

interface Named {
  name: string;
  oid: string;
}

/** Branches with the rules and rights that apply to the caller, and the commit of each in Gitea's form. */
async function showBranches(deps: WebDeps, viewer: Viewer, found: Found, rows: readonly Named[], origin: string) {
  const rights = await deps.repositories.rules.rightsIn(viewer, found.repository);
  const mayWrite = allows(found.level, 'write') && found.repository.archivedAt === null;
  const commits = await Promise.all(rows.map(({ oid }) => deps.git.objects.commit(found.path, oid)));
  const shown = await showPayloadCommits(deps, commits, { origin, found });
  return rows.map(({ name, oid }, index): z.output<typeof branch> => {
    const ref = `refs/heads/${name}`;
    const pattern = rights.patternOf(ref);
    const merging = rights.mergingOf(ref);
    return {
      name,
      id: oid,
      isDefault: name === found.repository.defaultBranch,
      commit: shown[index]!,
      protected: pattern !== null,
      effective_branch_protection_name: pattern ?? '',
      user_can_push: mayWrite && rights.may(ref, 'push'),
      user_can_merge: mayWrite && (merging?.mayMerge ?? true),
      required_approvals: merging?.approvals ?? 0,
      enable_status_check: (merging?.checks.length ?? 0) > 0,
      status_check_contexts: [...(merging?.checks ?? [])],
    };
  });
}

const listBranches = operation({
  ...read,
  id: 'listBranches',
  path: at,
  summary: 'List branches by name',
  isPaged: true,
  query: z.object({ ...paging, page: numberedPage }),
  response: z.array(branch),
  async run({ viewer, found, query, deps, origin }) {
    const { rows, next, total } = await pageOfRefs(deps, found, 'refs/heads/', query);
    return listed(await showBranches(deps, viewer, found, rows, origin), next, total);
  },
});

async function branchNamed(deps: WebDeps, { path }: Found, name: string): Promise<Named> {
  const oid = await deps.git.refs.tip(path, `refs/heads/${name}`);
  if (oid === null) throw notFound('no_such_branch', 'There is no such branch.');
  return { name, oid };
}

const getBranch = operation({
  ...read,
  id: 'getBranch',
  path: `${at}/{branch}`,
  summary: 'Get a branch with its commit',
  response: branch,
  async run({ viewer, found, params, deps, origin }) {
    const row = await branchNamed(deps, found, params.branch);
    return json((await showBranches(deps, viewer, found, [row], origin))[0]!);
  },
});

const createBranch = operation({
  ...common,
  id: 'createBranch',
  method: 'POST',
  path: at,
  summary: 'Create a branch',
  access: 'repository:write',
  status: 201,
  refuses: [409, 422],
  body: z.object({
    new_branch_name: z.string().max(255),
    old_ref_name: z.string().max(255).nullish().describe('Starting point: branch, tag or commit ID'),
    old_branch_name: z.string().max(255).nullish().describe('Starting point, if it is a branch'),
  }),
  response: branch,
  async run({ viewer, found, body, deps, origin }) {
    const { owner, name } = found.canonical;
    const from = body.old_ref_name || body.old_branch_name || found.repository.defaultBranch;
    const made = await deps.repositories.branches.create(viewer, owner, name, { name: body.new_branch_name, from });
    const row = await branchNamed(deps, found, made);
    return created(
      (await showBranches(deps, viewer, found, [row], origin))[0]!,
      `/repos/${owner}/${name}/branches/${encodeURIComponent(made)}`,
    );
  },
});

const deleteBranch = operation({
  ...common,
  id: 'deleteBranch',
  method: 'DELETE',
  path: `${at}/{branch}`,
  summary: 'Delete a branch',
  description: 'The commits can be restored for a limited time: see lost tips.',
  access: 'repository:write',
  status: 204,
  refuses: [409, 422],
  async run({ viewer, found, params, deps }) {
    const { owner, name } = found.canonical;
    const { oid } = await branchNamed(deps, found, params.branch);
    await deps.repositories.branches.delete(viewer, owner, name, { name: params.branch, expected: oid });
    return noContent();
  },
});

export const branchOperations = [listBranches, createBranch, getBranch, deleteBranch];

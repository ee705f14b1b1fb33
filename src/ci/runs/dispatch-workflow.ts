import { personIdOf } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { invalid, notFound } from '../../kernel/index.ts';
import type { Found } from '../../repositories/index.ts';
import { refuseArchived, requireLevel } from '../require-level.ts';
import type { CiDeps } from '../deps.ts';
import { requireEnabled } from '../settings/repository-settings.ts';
import { bundle, unbundle } from '../workflows/bundle.ts';
import { findingsOf } from '../workflows/check-workflow.ts';
import type { FileFinding } from '../workflows/file-finding.ts';
import { findWorkflows, isWorkflowPath } from '../workflows/find-workflows.ts';
import type { ParsedWorkflow } from '../workflows/parse-workflow.ts';
import type { DispatchInput, Triggers } from '../workflows/workflow.ts';
import { withCalledFiles } from '../workflows/read-called-files.ts';
import { maxWorkflowBytes, tooLargeFile } from '../workflows/workflow-size.ts';
import { sourceOf } from '../workflows/workflow-reader.ts';
import type { Json } from '../workflows/json-value.ts';
import { changeRuns } from './change-runs.ts';
import { deletedUserName } from '../load-run.ts';
import { repositoryPayload } from './push-event.ts';
import type { RunRow } from '../schema/run-schema.ts';
import { startRun } from './start-run.ts';

/** A workflow that users can start, and its inputs. */
interface DispatchableWorkflow {
  path: string;
  name: string;
  inputs: ReadonlyMap<string, DispatchInput>;
}

/** A workflow of the default branch: its triggers, or its first error. */
export interface ListedWorkflow {
  path: string;
  /** From the root of the repository: `.hearth/workflows`. */
  folder: string;
  name: string;
  triggers: Triggers | null;
  /** Includes line and column; null for a valid file. */
  problem: string | null;
  /** Other content that has no effect here. */
  warnings: readonly FileFinding[];
}

/** All workflows of the default branch, by path. */
export async function listWorkflows(deps: CiDeps, found: Found): Promise<ListedWorkflow[]> {
  return (await readDefaultBranch(deps, found)).map(({ path, folder, parsed }) => {
    const warnings = parsed.findings.filter(({ severity }) => severity === 'warning');
    const common = { path, folder, warnings };
    if (parsed.ok) return { ...common, name: parsed.workflow.name, triggers: parsed.workflow.triggers, problem: null };
    return { ...common, name: parsed.name, triggers: parsed.triggers, problem: parsed.problem.describe() };
  });
}

/**
 * Checks a workflow before it is committed; it may call those of the default branch. Throws `busy` if no worker is
 * available.
 */
export async function checkContent(deps: CiDeps, found: Found, path: string, content: string): Promise<FileFinding[]> {
  if (Buffer.byteLength(content) > maxWorkflowBytes)
    return [{ severity: 'error', line: 1, column: 1, message: tooLargeFile }];
  const sha = await deps.git.refs.resolve(found.path, 'HEAD').catch(() => null);
  const files = sha === null ? [] : await findWorkflows(deps.git, found.path, sha);
  const byPath = new Map(files.map((file) => [`${file.folder}/${file.path}`, unbundle(file.content).main]));
  const file = { path, content: bundle(content, byPath) };
  return findingsOf(await deps.workflows.read(sourceOf(file, found.repository.id)));
}

/** Checks the workflows of a commit at some paths. Throws `busy` if no worker is available. */
export async function checkFiles(
  deps: CiDeps,
  found: Found,
  sha: string,
  paths: readonly string[],
): Promise<{ path: string; findings: readonly FileFinding[] }[]> {
  if (!paths.some(isWorkflowPath)) return [];
  const checked: { path: string; findings: readonly FileFinding[] }[] = [];
  for (const file of await findWorkflows(deps.git, found.path, sha)) {
    const path = `${file.folder}/${file.path}`;
    if (!paths.includes(path)) continue;
    checked.push({ path, findings: findingsOf(await deps.workflows.read(sourceOf(file, found.repository.id))) });
  }
  return checked;
}

async function readDefaultBranch(
  deps: CiDeps,
  found: Found,
): Promise<{ path: string; folder: string; parsed: ParsedWorkflow }[]> {
  const sha = await deps.git.refs.resolve(found.path, 'HEAD').catch(() => null);
  if (sha === null) return [];
  const read: { path: string; folder: string; parsed: ParsedWorkflow }[] = [];
  for (const file of await findWorkflows(deps.git, found.path, sha))
    read.push({
      path: file.path,
      folder: file.folder,
      parsed: await deps.workflows.read(sourceOf(file, found.repository.id)),
    });
  return read;
}

const maxInputLength = 64 * 1024;

/** Workflows of the default branch that have `workflow_dispatch`, by path. */
export async function listDispatchable(deps: CiDeps, found: Found): Promise<DispatchableWorkflow[]> {
  return (await readDefaultBranch(deps, found)).flatMap(({ parsed }) => {
    if (!parsed.ok || parsed.workflow.triggers.dispatch === null) return [];
    const { path, name, triggers } = parsed.workflow;
    return [{ path, name, inputs: triggers.dispatch!.inputs }];
  });
}

/**
 * Starts a workflow manually on a branch or tag, whose version of the file defines the inputs. Throws
 * `repository_not_found`, `repository_archived`, `workflow_not_found`, `invalid_input` (field `input-<name>`),
 * `revision_not_found`, `ci_disabled`, `workflow_disabled`.
 * @param input.ref name of a branch or tag; empty for the default branch
 */
export async function dispatchWorkflow(
  deps: CiDeps,
  viewer: Viewer,
  found: Found,
  input: { path: string; ref: string; inputs: ReadonlyMap<string, string> },
): Promise<RunRow> {
  requireLevel(found, 'write');
  refuseArchived(found);
  const { repository, owner, path } = found;
  const refs = await deps.git.refs.list(path);
  const name = input.ref === '' ? repository.defaultBranch : input.ref;
  const ref = [name, `refs/heads/${name}`, `refs/tags/${name}`].find((one) => one.startsWith('refs/') && refs.has(one));
  if (ref === undefined) throw notFound('revision_not_found', 'There is no such branch or tag.');
  const sha = await deps.git.refs.resolve(path, ref);
  const file = (await findWorkflows(deps.git, path, sha)).find((one) => one.path === input.path);
  const own = file === undefined ? null : await deps.workflows.read(sourceOf(file, repository.id));
  if (file === undefined || own === null || !own.ok || own.workflow.triggers.dispatch === null) {
    throw notFound('workflow_not_found', `There is no workflow ${input.path} on ${name} that can be started manually.`);
  }
  await requireEnabled(deps, repository.id, file.path);
  const inputs = readInputs(own.workflow.triggers.dispatch.inputs, input.inputs);
  const actorId = personIdOf(viewer);
  const { content, parsed } = await withCalledFiles(deps, { ...file, parsed: own }, { actorId, client: repository.id });
  const actor = viewer.kind === 'person' ? (viewer.username ?? deletedUserName) : deletedUserName;
  const sender = { login: actor, username: actor };
  const isProtected = await deps.repositories.rules.protectedRefs(repository);
  return changeRuns(deps, (tx, after) =>
    startRun(
      deps,
      tx,
      after,
      { repository, owner, actor, isProtected },
      {
        workflowPath: file.path,
        workflowFolder: file.folder,
        content,
        parsed,
        event: 'workflow_dispatch',
        eventPayload: {
          inputs,
          ref,
          workflow: `${file.folder}/${file.path}`,
          repository: repositoryPayload(found, deps.settings.baseUrl),
          sender,
        },
        ref,
        sha,
        isTrusted: true,
        approval: null,
        actorId,
        title: own.workflow.name,
      },
    ),
  );
}

/** Reads values as strings; runners convert them by the types in the file. */
function readInputs(
  declared: ReadonlyMap<string, DispatchInput>,
  given: ReadonlyMap<string, string>,
): { [name: string]: Json } {
  const values: [string, Json][] = [];
  for (const [name, { required, type, options, default: fallback }] of declared) {
    const refuse = (message: string) => invalid('invalid_input', message, { field: `input-${name}` });
    const value = given.get(name) ?? fallback ?? (type === 'boolean' ? 'false' : '');
    if (required && value.trim() === '') throw refuse(`${name} is needed.`);
    if (value.length > maxInputLength) throw refuse(`${name} is too long.`);
    if (type === 'boolean' && value !== 'true' && value !== 'false') throw refuse(`${name} is true or false.`);
    if (type === 'number' && value !== '' && !Number.isFinite(Number(value))) throw refuse(`${name} is a number.`);
    if (type === 'choice' && value !== '' && !options.includes(value))
      throw refuse(`${name} is one of ${options.join(', ')}.`);
    values.push([name, value]);
  }
  return Object.fromEntries(values);
}

import { page, seeOther } from '../app/reply.ts';
import type { PageReply, Reply } from '../app/reply.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import { runUrl } from './run-row.view.ts';
import { viewName } from '../app/printable-names.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import { repositoryUrl } from '../../http/index.ts';
import type { Page, RepositoryPersonContext } from '../app/request-context.ts';
import type { RunsDeps } from './deps.ts';

/** Workflows that can be started manually, and the form of one. Query: `workflow`. */
export const showDispatch: Page<RepositoryPersonContext, RunsDeps> = (context, deps) =>
  dispatchPage(context, deps, null);

async function dispatchPage(
  context: RepositoryPersonContext,
  { ci }: RunsDeps,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const { found, query, form } = context;
  const workflows = await ci.workflows.listDispatchable(found);
  const wanted = form.text('workflow') || (query.get('workflow') ?? '');
  const chosen = workflows.find(({ path }) => path === wanted) ?? workflows[0];
  const environments = (await ci.environments.list(found)).map(({ name }) => name);
  return page('runs/dispatch', {
    repository: viewRepositoryHeader(found),
    workflows: workflows.map(({ path, name }) => ({ path, name: viewName(name) })),
    chosen: chosen?.path ?? null,
    ref: form.text('ref') || found.repository.defaultBranch,
    inputs: [...(chosen?.inputs ?? [])].map(([name, input]) => ({
      ...input,
      // The environment may be new: if there are none to choose from, the user types its name.
      ...(input.type === 'environment' &&
        environments.length > 0 && { type: 'choice' as const, options: environments }),
      name,
      field: `input-${name}`,
      label: viewName(input.description) || name,
      value: form.text(`input-${name}`) || (input.default ?? ''),
    })),
    refusal,
  });
}

/** Fields `workflow`, `ref`, and one `input-<name>` for each input. Redirects to the run. */
export const dispatchWorkflow: Page<RepositoryPersonContext, RunsDeps> = (context, deps): Promise<Reply> => {
  const { viewer, found, form } = context;
  return submitForm(
    async () => {
      const path = form.text('workflow');
      const declared =
        (await deps.ci.workflows.listDispatchable(found)).find((workflow) => workflow.path === path)?.inputs ??
        new Map<string, unknown>();
      const given = [...declared.keys()].flatMap((name): [string, string][] => {
        const value = form.all(`input-${name}`).at(-1);
        return value === undefined ? [] : [[name, value]];
      });
      const run = await deps.ci.workflows.dispatch(viewer, found, {
        path,
        ref: form.text('ref').trim(),
        inputs: new Map(given),
      });
      return seeOther(runUrl(repositoryUrl(found.canonical), run.number));
    },
    (refusal) => dispatchPage(context, deps, refusal),
  );
};

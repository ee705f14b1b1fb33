import { page } from '../app/reply.ts';
import type { Reply } from '../app/reply.ts';
import { viewWorkflow } from './workflow.view.ts';
import { viewRepositoryHead } from '../app/repository-head.view.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import type { RunsDeps } from './deps.ts';

/** The workflows of the default branch: what starts each, what never will, and what is wrong with a file. */
export const showWorkflows: Page<RepositoryContext, RunsDeps> = async ({ found }, { ci }): Promise<Reply> => {
  const head = viewRepositoryHead(found);
  const workflows = await ci.workflows.list(found);
  return page('runs/workflows', {
    repository: head,
    workflows: workflows.map((workflow) => viewWorkflow(workflow, head.url)),
  });
};

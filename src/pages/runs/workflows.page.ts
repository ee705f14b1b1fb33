import { allows } from '../../access/index.ts';
import { page, seeOther } from '../app/reply.ts';
import type { Reply } from '../app/reply.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { viewWorkflow } from './workflow.view.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { Page, RepositoryContext, RepositoryPersonContext } from '../app/request-context.ts';
import { oneOf, repositoryUrl } from '../../http/index.ts';
import type { RunsDeps } from './deps.ts';

/** The workflows of the default branch: the triggers of each, those without effect, errors in files, and switches. */
export const showWorkflows: Page<RepositoryContext, RunsDeps> = async ({ found, query }, { ci }): Promise<Reply> => {
  const head = viewRepositoryHeader(found);
  const { id } = found.repository;
  const [workflows, disabled, settings] = await Promise.all([
    ci.workflows.list(found),
    ci.settings.disabledWorkflows(id),
    ci.settings.of(id),
  ]);
  const { server } = ci.settings;
  return page('runs/workflows', {
    repository: head,
    workflows: workflows.map((workflow) => ({
      ...viewWorkflow(workflow, head.url),
      isEnabled: !disabled.has(workflow.path),
    })),
    isEnabled: settings.isEnabled,
    isEnabledHere: server.isEnabled,
    settings: allows(found.level, 'admin')
      ? { tokenPermissions: settings.tokenPermissions ?? 'default', ofServer: server.tokenPermissions }
      : null,
    notice: viewFlashMessage(query),
  });
};

const list = ({ found }: RepositoryPersonContext): string => `${repositoryUrl(found.canonical)}/runs/workflows`;

/** Fields `workflow`, `to`: `on` or `off`. */
export const switchWorkflow: Page<RepositoryPersonContext, RunsDeps> = async (context, { ci }): Promise<Reply> => {
  const { form, viewer, found } = context;
  const isEnabled = form.text('to') === 'on';
  await ci.settings.switchWorkflow(viewer, found, { path: form.text('workflow'), isEnabled });
  return seeOther(withFlashMessage(list(context), isEnabled ? 'workflow-enabled' : 'workflow-disabled'));
};

/** Fields `enabled`, `token_permissions`: `read`, `write`, or any other value for the server's default. */
export const saveCiSettings: Page<RepositoryPersonContext, RunsDeps> = async (context, { ci }): Promise<Reply> => {
  const { form, viewer, found } = context;
  const chosen = oneOf(['default', 'read', 'write'], form.text('token_permissions'));
  await ci.settings.change(viewer, found, {
    isEnabled: form.text('enabled') === 'on',
    tokenPermissions: chosen === 'default' ? null : chosen,
  });
  return seeOther(withFlashMessage(list(context), 'ci-settings-saved'));
};

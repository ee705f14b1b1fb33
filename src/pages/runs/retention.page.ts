import { repositoryUrl } from '../../http/index.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { page, seeOther } from '../app/reply.ts';
import type { PageReply } from '../app/reply.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { Page, RepositoryPersonContext } from '../app/request-context.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import type { RunsDeps } from './deps.ts';

async function retentionPage(
  { found, form, query }: RepositoryPersonContext,
  { ci }: RunsDeps,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const { artifactDays, logDays, maxArtifactDays, maxLogDays } = await ci.retention.of(found.repository.id);
  const typed = (name: string, days: number | null): string => (refusal === null ? `${days ?? ''}` : form.text(name));
  return page('runs/retention', {
    repository: viewRepositoryHeader(found),
    artifactDays: typed('artifact_days', artifactDays),
    logDays: typed('log_days', logDays),
    maxArtifactDays,
    maxLogDays,
    refusal,
    notice: viewFlashMessage(query),
  });
}

export const showRetention: Page<RepositoryPersonContext, RunsDeps> = (context, deps) =>
  retentionPage(context, deps, null);

/** Empty means the server's setting; an invalid number is refused as out of range. */
function readDays(text: string): number | null {
  const trimmed = text.trim();
  return trimmed === '' ? null : /^\d{1,6}$/.test(trimmed) ? Number(trimmed) : 0;
}

/** Fields `artifact_days`, `log_days`. */
export const saveRetention: Page<RepositoryPersonContext, RunsDeps> = (context, deps) =>
  submitForm(
    async () => {
      const { viewer, found, form } = context;
      await deps.ci.retention.set(viewer, found, {
        artifactDays: readDays(form.text('artifact_days')),
        logDays: readDays(form.text('log_days')),
      });
      return seeOther(withFlashMessage(`${repositoryUrl(found.canonical)}/settings/retention`, 'retention-saved'));
    },
    (refusal) => retentionPage(context, deps, refusal),
  );

import type { Block } from '../../federation/index.ts';
import { content, page, seeOther } from '../app/reply.ts';
import type { ContentReply, PageReply } from '../app/reply.ts';
import { readFilter } from '../app/list-page.view.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import { viewTime } from '../app/times.view.ts';
import type { AdminDeps } from './deps.ts';

const here = '/admin/federation/blocks';
const perPage = 100;

const viewBlock = ({ kind, value, reason, createdAt }: Block, now: number) => ({
  kind,
  value,
  reason,
  since: viewTime(createdAt, now),
});

interface Extra {
  refusal?: FormRefusal | null;
  /** The refused form. */
  which?: 'add' | 'import';
  imported?: { added: number; known: number; skipped: { line: number; text: string; why: string }[] };
}

async function blocksPage(
  { query, form }: PersonContext,
  { federation, clock }: AdminDeps,
  { refusal = null, which = 'add', imported }: Extra = {},
): Promise<PageReply> {
  const filter = readFilter(query);
  const found = await federation.listBlocks({ limit: perPage + 1, after: query.get('after'), search: filter });
  const blocks = found.slice(0, perPage);
  const last = found.length > perPage ? blocks.at(-1) : undefined;
  const next = last === undefined ? null : new URLSearchParams({ q: filter, after: `${last.kind} ${last.value}` });
  return page('admin/federation-blocks', {
    blocks: blocks.map((block) => viewBlock(block, clock.now())),
    filter,
    next: next === null ? null : `${here}?${next}`,
    form: { value: form.text('value'), reason: form.text('reason'), list: which === 'import' ? form.text('list') : '' },
    refusal,
    which,
    imported: imported ?? null,
    notice: viewFlashMessage(query),
  });
}

/** Blocked servers and actors. */
export const showBlocks: Page<PersonContext, AdminDeps> = (context, deps) => blocksPage(context, deps);

/** Fields `value`, a host name or the URL of an actor, and `reason`. */
export const addBlock: Page<PersonContext, AdminDeps> = (context, deps) =>
  submitForm(
    async () => {
      await deps.federation.addBlock(context.form.text('value'), context.form.text('reason'));
      return seeOther(withFlashMessage(here, 'peer-blocked'));
    },
    (refusal) => blocksPage(context, deps, { refusal }),
  );

/** Field `value`. */
export const removeBlock: Page<PersonContext, AdminDeps> = (context, deps) =>
  submitForm(
    async () => {
      await deps.federation.removeBlock(context.form.text('value'));
      return seeOther(withFlashMessage(here, 'peer-unblocked'));
    },
    (refusal) => blocksPage(context, deps, { refusal }),
  );

/** Field `list`. The response lists the skipped entries. */
export const importBlocks: Page<PersonContext, AdminDeps> = (context, deps) =>
  submitForm(
    async () => {
      const { added, blocks, skipped } = await deps.federation.importBlocks(context.form.text('list'));
      return blocksPage(context, deps, {
        imported: { added, known: blocks.length - added, skipped: skipped.slice(0, 20) },
      });
    },
    (refusal) => blocksPage(context, deps, { refusal, which: 'import' }),
  );

/** `?kind=actor`: the list of actors; otherwise that of servers. */
export const exportBlocks: Page<PersonContext, AdminDeps> = async (
  { query },
  { federation },
): Promise<ContentReply> => {
  const kind = query.get('kind') === 'actor' ? 'actor' : 'host';
  const name = kind === 'actor' ? 'blocked-actors.csv' : 'blocked-servers.csv';
  const headers = { 'Content-Disposition': `attachment; filename="${name}"`, 'Cache-Control': 'no-store' };
  return content('text/csv; charset=utf-8', await federation.exportBlocks(kind), { headers });
};

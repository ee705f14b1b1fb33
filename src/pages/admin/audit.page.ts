import type { AuditEntry, AuditFilter } from '../../audit/index.ts';
import { nullIfNotFound, silentLogger } from '../../kernel/index.ts';
import { translated } from '../../translation/index.ts';
import { content, page } from '../app/reply.ts';
import { idsIn, viewAuditDetails } from './audit-details.view.ts';
import { viewTime } from '../app/times.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { AdminDeps } from './deps.ts';

const here = '/admin/audit';
const perPage = 100;
/** Maximum number of entries of one export; a longer log is exported by dates, or by `hearth log list`. */
const mostExported = 20_000;
const dayMs = 86_400_000;

const whoElse: Readonly<Record<string, string>> = translated({
  local: 'admin.audit.command_line',
  server: 'admin.audit.the_server',
  anonymous: 'anonymous',
});

/** The submitted filter. */
interface AuditForm {
  actor: string;
  event: string;
  since: string;
  until: string;
}

function readForm(query: URLSearchParams): AuditForm {
  const text = (name: string): string => (query.get(name) ?? '').trim().slice(0, 100);
  return { actor: text('actor'), event: text('event'), since: text('since'), until: text('until') };
}

/** A day in UTC as milliseconds; undefined if invalid. */
function dayOf(text: string): number | undefined {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isFinite(at) ? at : undefined;
}

/** The filter of the query; an unknown actor has no entries. The last day is included. */
async function readFilter({ actor, event, since, until }: AuditForm, deps: AdminDeps): Promise<AuditFilter> {
  const known = Object.entries(whoElse).find(([id, words]) => actor === id || actor === words)?.[0];
  const person =
    actor === '' || known !== undefined ? null : await deps.accounts.personByUsername(actor).catch(nullIfNotFound);
  const lastDay = dayOf(until);
  return {
    ...(actor === '' ? {} : { actor: known ?? person?.id ?? actor }),
    ...(event === '' ? {} : { event }),
    since: dayOf(since),
    until: lastDay === undefined ? undefined : lastDay + dayMs,
  };
}

async function namesIn({ owners, repositories }: AdminDeps, entries: readonly AuditEntry[]) {
  const ids = [...entries.map(({ actor }) => actor), ...idsIn(entries.map(({ details }) => details))];
  const [handles, located] = await Promise.all([owners.ownersById(ids), repositories.locate(ids)]);
  return new Map([
    ...[...handles].map(([id, { handle }]) => [id, handle] as const),
    ...[...located].map(([id, { owner, repository }]) => [id, `${owner.handle}/${repository.name}`] as const),
  ]);
}

/**
 * Query `actor`, `event` (the beginning of a name), `since` and `until` (days in UTC, both included); `before`: an
 * entry's number; shows the entries before it, newest first.
 */
export const showAdminAudit: Page<PersonContext, AdminDeps> = async ({ query }, deps) => {
  const before = Number(query.get('before'));
  const form = readForm(query);
  const entries = await deps.audit.list({
    ...(await readFilter(form, deps)),
    limit: perPage + 1,
    ...(Number.isSafeInteger(before) && before > 0 ? { before } : {}),
  });
  const shown = entries.slice(0, perPage);
  const names = await namesIn(deps, shown);
  const filter = new URLSearchParams(Object.entries(form).filter(([, value]) => value !== ''));
  const exported = (format: string) => `${here}/export?${new URLSearchParams([...filter, ['format', format]])}`;
  return page('admin/audit', {
    filter: form,
    isFiltered: filter.size > 0,
    csv: exported('csv'),
    json: exported('json'),
    entries: shown.map(({ at, actor, event, details, address }) => ({
      at: viewTime(at, deps.clock.now()),
      who: names.get(actor) ?? whoElse[actor] ?? actor,
      event,
      details: viewAuditDetails(details, names),
      address: address ?? '',
    })),
    older:
      entries.length > perPage
        ? `${here}?${new URLSearchParams([...filter, ['before', String(shown.at(-1)!.id)]])}`
        : null,
  });
};

/** The same entries as a file, with all their fields: `format=csv`, otherwise JSON; at most 20,000, newest first. */
export const exportAudit: Page<PersonContext, AdminDeps> = async ({ query }, deps) => {
  const form = readForm(query);
  const entries = await deps.audit.list({ ...(await readFilter(form, deps)), limit: mostExported });
  const filter = Object.fromEntries(Object.entries(form).filter(([, value]) => value !== ''));
  deps.audit.auditing(silentLogger).info('audit.exported', { entries: entries.length, ...filter });
  const names = await namesIn(deps, entries);
  const rows = entries.map(({ id, at, actor, address, event, details, hash }) => ({
    id,
    at: new Date(at).toISOString(),
    actor,
    actorName: names.get(actor) ?? null,
    address,
    event,
    details,
    hash,
  }));
  const isCsv = query.get('format') === 'csv';
  const headers = {
    'Content-Disposition': `attachment; filename="audit.${isCsv ? 'csv' : 'json'}"`,
    'Cache-Control': 'no-store',
  };
  if (!isCsv) return content('application/json; charset=utf-8', JSON.stringify(rows, null, 1), { headers });
  const columns = ['id', 'at', 'actor', 'actorName', 'address', 'event', 'details', 'hash'] as const;
  const lines = rows.map((row) => columns.map((name) => csvCell(row[name])).join(','));
  return content('text/csv; charset=utf-8', `${[columns.join(','), ...lines].join('\r\n')}\r\n`, { headers });
};

/** RFC 4180. A leading `=`, `+`, `-` or `@` gets a quote before it, or a spreadsheet would run it as a formula. */
function csvCell(value: unknown): string {
  if (typeof value === 'number') return String(value);
  const text = value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

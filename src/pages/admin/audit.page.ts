import { page } from '../app/reply.ts';
import { idsIn, viewAuditDetails } from './audit-details.view.ts';
import { viewTime } from '../app/times.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { AdminDeps } from './deps.ts';

const perPage = 100;

const whoElse: Readonly<Record<string, string>> = {
  local: 'command line',
  server: 'the server',
  anonymous: 'anonymous',
};

/** Query `before`: an entry's number; those before it are shown, newest first. */
export const showAdminAudit: Page<PersonContext, AdminDeps> = async (
  { query },
  { audit, owners, repositories, clock },
) => {
  const before = Number(query.get('before'));
  const entries = await audit.list({
    limit: perPage,
    ...(Number.isSafeInteger(before) && before > 0 ? { before } : {}),
  });
  const ids = [...entries.map(({ actor }) => actor), ...idsIn(entries.map(({ details }) => details))];
  const [handles, located] = await Promise.all([owners.ownersById(ids), repositories.locate(ids)]);
  const names = new Map([
    ...[...handles].map(([id, { handle }]) => [id, handle] as const),
    ...[...located].map(([id, { owner, repository }]) => [id, `${owner.handle}/${repository.name}`] as const),
  ]);
  const last = entries.at(-1);
  return page('admin/audit', {
    entries: entries.map(({ at, actor, event, details, address }) => ({
      at: viewTime(at, clock.now()),
      who: names.get(actor) ?? whoElse[actor] ?? actor,
      event,
      details: viewAuditDetails(details, names),
      address: address ?? '',
    })),
    older: entries.length === perPage && last !== undefined && last.id > 1 ? `/admin/audit?before=${last.id}` : null,
  });
};

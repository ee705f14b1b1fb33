import { page } from '../reply.ts';
import { viewTime } from '../views/times.ts';
import type { Page, PersonVisit } from '../visit.ts';

const perPage = 100;

const whoElse: Readonly<Record<string, string>> = { local: 'command line', server: 'the server', anonymous: 'somebody not signed in' };

/** Query `before`: an entry's number; those before it are shown, newest first. */
export const showAdminAudit: Page<PersonVisit> = async ({ query }, { audit, accounts, clock }) => {
  const before = Number(query.get('before'));
  const entries = await audit.list({ limit: perPage, ...(Number.isSafeInteger(before) && before > 0 ? { before } : {}) });
  const people = await accounts.peopleById(entries.map(({ actor }) => actor));
  const last = entries.at(-1);
  return page('admin/audit', {
    entries: entries.map(({ at, actor, event, details, address }) => ({
      at: viewTime(at, clock.now()),
      who: people.get(actor)?.username ?? whoElse[actor] ?? actor,
      event,
      details: Object.entries(details).map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`).join(', '),
      address: address ?? '',
    })),
    older: entries.length === perPage && last !== undefined && last.id > 1 ? `/admin/audit?before=${last.id}` : null,
  });
};

import type { DeliveryState, ListedDelivery } from '../../federation/index.ts';
import { invalid, notFound } from '../../kernel/index.ts';
import { page, seeOther, type PageReply } from '../app/reply.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { viewDelivery } from './peers.view.ts';
import { viewCount } from '../app/format-numbers.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { AdminDeps } from './deps.ts';

const here = '/admin/federation/deliveries';
const perPage = 50;
const dayMs = 86_400_000;
const usualDays = 30;

interface Extra {
  refusal?: FormRefusal;
  /** The number of deliveries to remove, before the administrator confirms. */
  purge?: { days: number; count: string };
}

const readState = (text: string | null): DeliveryState | undefined =>
  (['PENDING', 'DELIVERED', 'FAILED'] as const).find((state) => state.toLowerCase() === text);

async function deliveriesPage({ query, form }: PersonContext, deps: AdminDeps, extra: Extra = {}): Promise<PageReply> {
  const { federation, clock } = deps;
  const state = readState(query.get('state'));
  const host = query.get('host')?.trim() ?? '';
  const before = Number(query.get('before'));
  const [rows, counts] = await Promise.all([
    federation.listDeliveries({
      state,
      host: host === '' ? undefined : host,
      limit: perPage + 1,
      before: Number.isSafeInteger(before) && before > 0 ? before : undefined,
    }),
    federation.countDeliveries(),
  ]);
  const shown = rows.slice(0, perPage);
  const names = await namesOf(deps, shown);
  const filter = new URLSearchParams([
    ...(state === undefined ? [] : [['state', state.toLowerCase()]]),
    ...(host === '' ? [] : [['host', host]]),
  ]);
  return page('admin/federation-deliveries', {
    counts,
    filter: { state: state?.toLowerCase() ?? '', host },
    isFiltered: filter.size > 0,
    deliveries: shown.map((delivery) => viewDelivery(delivery, clock.now(), names)),
    older:
      rows.length > perPage
        ? `${here}?${new URLSearchParams([...filter, ['before', String(shown.at(-1)!.id)]])}`
        : null,
    form: { days: form.text('days') || String(usualDays) },
    purge: extra.purge ?? null,
    refusal: extra.refusal ?? null,
    notice: viewFlashMessage(query),
  });
}

const acting = (context: PersonContext, deps: AdminDeps, act: () => Promise<unknown>) =>
  submitForm(
    async () => {
      await act();
      return seeOther(withFlashMessage(here, 'delivery-retried'));
    },
    (refusal) => deliveriesPage(context, deps, { refusal }),
  );

/** `owner/name` of the repositories in deliveries. */
async function namesOf({ repositories }: AdminDeps, rows: readonly ListedDelivery[]): Promise<Map<string, string>> {
  const located = await repositories.locate(rows.flatMap(({ repositoryId }) => repositoryId ?? []));
  return new Map([...located].map(([id, { owner, repository }]) => [id, `${owner.handle}/${repository.name}`]));
}

/** Activities in the outbox for other servers, newest first: `?state=`, `?host=`, `?before=` a number. */
export const showDeliveries: Page<PersonContext, AdminDeps> = (context, deps) => deliveriesPage(context, deps);

/** Responds to an invalid number as to a missing delivery. */
function readDeliveryId(text: string | undefined): number {
  if (text === undefined || !/^[1-9]\d{0,14}$/.test(text))
    throw notFound('unknown_delivery', 'There is no such delivery.');
  return Number(text);
}

/** One delivery with the document that it sends. */
export const showDelivery: Page<PersonContext, AdminDeps> = async ({ params, query }, deps) => {
  const { federation, clock } = deps;
  const row = await federation.showDelivery(readDeliveryId(params.id));
  return page('admin/delivery', {
    delivery: viewDelivery(row, clock.now(), await namesOf(deps, [row])),
    target: row.targetInbox,
    activityId: row.activityId,
    document: JSON.stringify(JSON.parse(row.activity), null, 2),
    notice: viewFlashMessage(query),
  });
};

export const retryDelivery: Page<PersonContext, AdminDeps> = (context, deps) =>
  acting(context, deps, () => deps.federation.retryDelivery(readDeliveryId(context.params.id)));

/** For a delivery that waits for its next attempt. */
export const sendDeliveryNow: Page<PersonContext, AdminDeps> = (context, deps) =>
  acting(context, deps, () => deps.federation.sendNow(readDeliveryId(context.params.id)));

/** Field `host`: only deliveries to one server; by default all. */
export const retryFailedDeliveries: Page<PersonContext, AdminDeps> = (context, deps) => {
  const host = context.form.text('host').trim().toLowerCase();
  return acting(context, deps, () => deps.federation.retryFailedDeliveries(host === '' ? null : host));
};

/**
 * Fields `days`, and `confirm` once the administrator has seen the number: removes deliveries that ended longer ago.
 */
export const purgeDeliveries: Page<PersonContext, AdminDeps> = (context, deps) =>
  submitForm(
    async () => {
      const days = Number(context.form.text('days'));
      if (!Number.isInteger(days) || days < 1 || days > 3_650)
        throw invalid('invalid_days', 'Enter a number of days from 1 to 3650.', { field: 'days' });
      const before = deps.clock.now() - days * dayMs;
      if (context.form.text('confirm') === '') {
        const count = await deps.federation.countSettled(before);
        return deliveriesPage(context, deps, { purge: { days, count: viewCount(count, 'delivery') } });
      }
      await deps.federation.purgeDeliveries(before);
      return seeOther(withFlashMessage(here, 'deliveries-purged'));
    },
    (refusal) => deliveriesPage(context, deps, { refusal }),
  );

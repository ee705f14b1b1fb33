import { notFound } from '../../kernel/index.ts';
import { plainHttpWebhookRisk as plainHttpRisk, webhookEvents } from '../../webhooks/index.ts';
import type { WebhookScope } from '../../webhooks/index.ts';
import { page, seeOther } from '../app/reply.ts';
import type { PageReply, Reply } from '../app/reply.ts';
import type { WebDeps } from '../../http/index.ts';
import { submit } from '../app/submit.ts';
import type { FormRefusal } from '../app/submit.ts';
import { viewNotice, withNotice } from '../app/notices.view.ts';
import { eventWords, viewDelivery, viewWebhook } from './webhook.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { ScopePageOf } from '../runs/scopes.ts';
import { queryNumber } from '../../http/index.ts';

/** The pages about the webhooks of one kind of place. */
export interface WebhookPages<V extends PersonContext> {
  list: Page<V>;
  /** Fields `url`, `secret`, `events` (several), `active`. */
  add: Page<V>;
  show: Page<V>;
  /** The same fields; an empty secret stays what it was, `remove_secret` takes it away. */
  edit: Page<V>;
  remove: Page<V>;
  test: Page<V>;
  redeliver: Page<V>;
}

const perPage = 20;
const choices = webhookEvents.map((event) => ({ value: event, text: eventWords[event] }));

export function webhookPages<V extends PersonContext>(placeOf: ScopePageOf<V>): WebhookPages<V> {
  const scopeOf = (visit: V) => placeOf(visit).scope as WebhookScope;
  const listUrl = (visit: V): string => `${placeOf(visit).url}/webhooks`;
  const hookUrl = (visit: V): string => `${listUrl(visit)}/${visit.params['hook'] ?? ''}`;
  const hookId = (visit: V): string => visit.params['hook'] ?? '';

  const input = ({ form }: V) => ({
    url: form.text('url'),
    events: form.all('events'),
    isActive: form.text('active') === 'yes',
  });

  async function listPage(
    visit: V,
    { webhooks, clock, config }: WebDeps,
    refusal: FormRefusal | null,
  ): Promise<PageReply> {
    const rows = await webhooks.list(scopeOf(visit));
    const typed = input(visit);
    return page('webhooks/webhooks', {
      place: placeOf(visit),
      webhooks: rows.map((row) => viewWebhook(row, listUrl(visit), clock.now())),
      choices,
      plainHttpRisk,
      // What was typed as a secret does not travel back into a page.
      form: refusal === null ? { url: '', events: ['push'], isActive: true } : typed,
      hasAddress: config.baseUrl !== null,
      refusal,
      notice: viewNotice(visit.query),
    });
  }

  async function showPage(visit: V, { webhooks, clock }: WebDeps, refusal: FormRefusal | null): Promise<PageReply> {
    const before = queryNumber(visit.query, 'before');
    const hook = await webhooks.find(scopeOf(visit), hookId(visit));
    const rows = await webhooks.listDeliveries(scopeOf(visit), hook.id, { limit: perPage + 1, before });
    const last = rows.length > perPage ? rows[perPage - 1] : undefined;
    return page('webhooks/webhook', {
      place: placeOf(visit),
      webhook: viewWebhook(hook, listUrl(visit), clock.now()),
      choices,
      plainHttpRisk,
      form: refusal === null ? { url: hook.url, events: hook.events, isActive: hook.isActive } : input(visit),
      deliveries: rows.slice(0, perPage).map((row) => viewDelivery(row, clock.now())),
      next: last === undefined ? null : `${hookUrl(visit)}?before=${last.id}`,
      refusal,
      notice: viewNotice(visit.query),
    });
  }

  const done =
    (work: (visit: V, deps: WebDeps) => Promise<unknown>, to: (visit: V) => string, notice: string): Page<V> =>
    async (visit, deps) => {
      await work(visit, deps);
      return seeOther(withNotice(to(visit), notice));
    };

  return {
    list: (visit, deps) => listPage(visit, deps, null),
    add: (visit, deps): Promise<Reply> =>
      submit(
        async () => {
          const { id } = await deps.webhooks.add(visit.viewer, scopeOf(visit), {
            ...input(visit),
            secret: visit.form.text('secret'),
          });
          return seeOther(withNotice(`${listUrl(visit)}/${id}`, 'webhook-added'));
        },
        (refusal) => listPage(visit, deps, refusal),
      ),
    show: (visit, deps) => showPage(visit, deps, null),
    edit: (visit, deps): Promise<Reply> =>
      submit(
        async () => {
          const secret = visit.form.text('remove_secret') === 'yes' ? null : visit.form.text('secret');
          await deps.webhooks.edit(visit.viewer, scopeOf(visit), hookId(visit), { ...input(visit), secret });
          return seeOther(withNotice(hookUrl(visit), 'webhook-saved'));
        },
        (refusal) => showPage(visit, deps, refusal),
      ),
    remove: done(
      (visit, { webhooks }) => webhooks.remove(visit.viewer, scopeOf(visit), hookId(visit)),
      listUrl,
      'webhook-removed',
    ),
    test: done((visit, { webhooks }) => webhooks.test(scopeOf(visit), hookId(visit)), hookUrl, 'webhook-tested'),
    redeliver: done(
      (visit, { webhooks }) => {
        const delivery = visit.params['delivery'] ?? '';
        if (!/^\d{1,15}$/.test(delivery)) throw notFound('delivery_not_found', 'There is no such delivery.');
        return webhooks.redeliver(scopeOf(visit), hookId(visit), Number(delivery));
      },
      hookUrl,
      'webhook-redelivered',
    ),
  };
}

import { digests, notificationChannels, reasons } from '../../notifications/index.ts';
import type { Channel, Digest, Reason } from '../../notifications/index.ts';
import { oneOf, repositoryUrl } from '../../http/index.ts';
import { translated } from '../../translation/index.ts';
import { listPage, pageLinks } from '../app/list-page.view.ts';
import { withFlashMessage } from '../app/flash-messages.view.ts';
import { page, seeOther } from '../app/reply.ts';
import type { PageReply } from '../app/reply.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import { viewTime } from '../app/times.view.ts';
import { watchWords } from '../app/watch.view.ts';
import type { NotificationsDeps } from './deps.ts';

const path = '/settings/notifications';

const reasonLabels: Readonly<Record<Reason, string>> = translated({
  mention: 'notifications.settings.you_are_mentioned',
  review_asked: 'notifications.settings.you_are_asked_for_a_review',
  assigned: 'notifications.settings.you_are_assigned',
  author: 'notifications.settings.activity_on_an_issue_or_pull',
  reply: 'notifications.settings.activity_in_a_conversation_you_participate',
  approved: 'notifications.settings.your_pull_request_is_approved',
  merged: 'notifications.settings.your_pull_request_is_merged',
  ci_failed: 'notifications.settings.a_run_of_your_push_fails',
  release: 'notifications.settings.a_release_is_published_in_a',
  watching: 'notifications.settings.other_activity_in_a_repository_you',
});
const channelLabels: Readonly<Record<Channel, string>> = translated({
  inbox: 'notifications.settings.inbox',
  mail: 'notifications.settings.mail',
  feed: 'notifications.settings.feed',
});
const digestLabels: Readonly<Record<Digest, [title: string, hint: string]>> = translated({
  immediately: ['notifications.settings.immediately', 'notifications.settings.one_mail_per_conversation_a_minute'],
  daily: ['notifications.settings.daily', 'notifications.settings.one_mail_a_day_with_everything'],
  weekly: ['notifications.settings.weekly', 'notifications.settings.one_mail_a_week_on_mondays'],
});

async function settingsPage(
  { viewer, query }: PersonContext,
  { notifications, repositories, clock }: NotificationsDeps,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const [settings, watches] = await Promise.all([
    notifications.settingsOf(viewer),
    listPage((paging) => notifications.listWatches(viewer, paging), query),
  ]);
  const places = await repositories.locate(watches.rows.map(({ repositoryId }) => repositoryId));
  const { rules, digest, feedSince } = settings!;
  const channels = notificationChannels.filter((channel) => channel !== 'mail' || notifications.sendsMail);
  return page('notifications/settings', {
    sendsMail: notifications.sendsMail,
    channels: channels.map((channel) => ({ name: channel, label: channelLabels[channel] })),
    rules: reasons.map((reason) => ({
      label: reasonLabels[reason],
      boxes: channels.map((channel) => ({
        value: `${reason}:${channel}`,
        label: `${channelLabels[channel]}: ${reasonLabels[reason]}`,
        isOn: rules[reason][channel],
      })),
    })),
    digests: digests.map((value) => ({
      value,
      title: digestLabels[value][0],
      hint: digestLabels[value][1],
      isChosen: value === digest,
    })),
    feedSince: feedSince === null ? null : viewTime(feedSince, clock.now()),
    watches: watches.rows.flatMap(({ repositoryId, level }) => {
      const place = places.get(repositoryId);
      if (place === undefined) return [];
      const at = { owner: place.owner.handle, name: place.repository.name };
      return [{ name: `${at.owner}/${at.name}`, url: repositoryUrl(at), level, words: watchWords[level].title }];
    }),
    levels: Object.entries(watchWords).map(([value, { title }]) => ({ value, title })),
    ...pageLinks(path, watches),
    refusal,
  });
}

/** `/settings/notifications`: the channels by event, the feed, and the watched repositories. */
export const showNotificationSettings: Page<PersonContext, NotificationsDeps> = (context, deps) =>
  settingsPage(context, deps, null);

/**
 * Fields `on`, `<reason>:<channel>` of each checked box, and `digest`. Settings that the form did not show stay
 * unchanged.
 */
export const saveNotificationSettings: Page<PersonContext, NotificationsDeps> = (context, deps) => {
  const { viewer, form } = context;
  return submitForm(
    async () => {
      const on = new Set(form.all('on'));
      const shown = notificationChannels.filter((channel) => channel !== 'mail' || deps.notifications.sendsMail);
      await deps.notifications.changeSettings(viewer, {
        rules: reasons.flatMap((reason) =>
          shown.map((channel) => ({ reason, channel, isOn: on.has(`${reason}:${channel}`) })),
        ),
        ...(form.text('digest') && { digest: oneOf(digests, form.text('digest')) }),
      });
      return seeOther(withFlashMessage(path, 'settings-saved'));
    },
    (refusal) => settingsPage(context, deps, refusal),
  );
};

/** Creates a new URL of the feed; redirects to the page that shows it once. */
export const makeFeed: Page<PersonContext, NotificationsDeps> = async (
  { viewer, person },
  { notifications, oneTimeSecrets },
) => {
  const secret = await notifications.makeFeed(viewer);
  return seeOther(`${path}/feed/${await oneTimeSecrets.store(person.id, { name: 'feed', value: secret })}`);
};

/** The only page that ever shows the URL; a reload redirects to the settings. */
export const showNewFeed: Page<PersonContext, NotificationsDeps> = async (
  { person, params, origin },
  { oneTimeSecrets },
) => {
  const secret = await oneTimeSecrets.take(person.id, params['oneTimeToken'] ?? '');
  if (secret === null) return seeOther(withFlashMessage(path, 'feed-gone'));
  return page(
    'notifications/new-feed',
    { address: `${origin}/notifications/feed.atom?token=${secret.value}` },
    { showsSecret: true },
  );
};

export const removeFeed: Page<PersonContext, NotificationsDeps> = async ({ viewer }, { notifications }) => {
  await notifications.removeFeed(viewer);
  return seeOther(withFlashMessage(path, 'feed-removed'));
};

import type { Reason } from '../schema/notification-schema.ts';

/** Why a person gets a mail, behind "You get this mail because". */
export const reasonTexts: Readonly<Record<Reason, string>> = {
  mention: 'you were mentioned',
  review_asked: 'you were asked for a review',
  assigned: 'you are assigned',
  author: 'you opened this',
  reply: 'you take part in this',
  approved: 'your pull request was approved',
  merged: 'your pull request was merged',
  ci_failed: 'a run of your push failed',
  release: 'you watch releases of this repository',
  watching: 'you watch this repository',
};

import type { EntryListener } from '../../issues/index.ts';
import type { NotificationDeps } from '../deps.ts';
import { issueRecipients } from '../recipients/issue-recipients.ts';
import { notifyRecipients } from './batches.ts';
import type { BatchDrain } from './batches.ts';
import type { NotifiedEvent, Recipient } from '../notified-event.ts';

interface ToTell {
  event: NotifiedEvent;
  recipients: Recipient[];
}

/**
 * Subscribes to issue entries. Finds an entry's recipients before the transaction that marks this listener as done;
 * that transaction notifies the first users and stores the others as batches, so each is notified exactly once.
 */
export function onEntry(deps: NotificationDeps, batchDrain: BatchDrain): EntryListener<ToTell> {
  return {
    name: 'notifications',
    async prepare(announced) {
      const recipients = await issueRecipients(deps, announced);
      if (recipients.length === 0) return null;
      const { issue, entry } = announced;
      // For an edit, the edited text: the edit's own entry is not shown.
      const shown = entry.kind === 'edited' ? Number(entry.details['position']) : entry.position;
      const event: NotifiedEvent = {
        subject: `issue:${issue.id}`,
        repositoryId: issue.repositoryId,
        issueId: issue.id,
        firstPosition: shown,
        lastPosition: entry.position,
        details: '{}',
        context: '',
      };
      return { event, recipients };
    },
    record: (tx, _announced, { event, recipients }) => notifyRecipients(deps, tx, event, recipients),
    recorded: (_announced, { recipients }) => void (recipients.length > 0 && batchDrain.drainAll()),
  };
}

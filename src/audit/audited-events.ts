/**
 * The acts that the audit log keeps, by the names that rooms log them under: whoever
 * administers, or changes who may do what. One row here makes an act audited.
 */
export const auditedEvents: ReadonlySet<string> = new Set([
  'person.added', 'person.deleted', 'person.renamed', 'person.disabled', 'person.enabled',
  'person.administrator_set', 'person.administrator_unset', 'person.password_set', 'person.password_changed',
  'setup.done', 'invite.added', 'invite.removed', 'invite.used',
  'session.revoked', 'session.others_revoked',
  'token.added', 'token.removed', 'key.added', 'key.removed',
  'handle.freed',
  'organisation.created', 'organisation.renamed', 'organisation.deleted',
  'organisation.member_added', 'organisation.member_removed', 'organisation.member_left', 'organisation.role_changed',
  'repository.visibility_changed', 'repository.protection_changed', 'repository.archived', 'repository.unarchived', 'repository.renamed', 'repository.deleted', 'repository.restored', 'repository.purged',
  'repository.transfer_offered', 'repository.transfer_declined', 'repository.transfer_withdrawn', 'repository.transferred',
  'repository.collaborator_added', 'repository.collaborator_changed', 'repository.collaborator_removed', 'repository.collaborator_left',
  'push.undone', 'webhook.added', 'webhook.edited', 'webhook.removed',
  'mirror.saved', 'mirror.paused_by_hand', 'mirror.resumed', 'mirror.ended',
  'peer.invited', 'peer.asked_to_pair', 'peer.paired', 'peer.removed',
  'follow.added_for', 'follow.ended_for', 'follow.retried_for', 'follow.resynced',
  'delivery.retried', 'delivery.failed_retried', 'delivery.purged',
  'runner.token_made', 'runner.registered', 'runner.disabled', 'runner.enabled', 'runner.removed', 'ci.run_removed',
  'secret.set', 'secret.removed',
  'config.reloaded',
  'backup.created', 'backup.restored', 'backup.rolled_back',
]);

/** Push listeners that contact other hosts: after a rollback they are not notified again of the same pushes. */
export const listenersWithSideEffects: readonly string[] = ['webhooks', 'federation'];

import { mayManage } from '../../../contract/roles.ts'
import { fail } from '../../base/lib/failure.ts'
import { change } from '../../base/options/change.ts'
import type { Caller } from '../../base/options/core.ts'
import type { KeptFile } from '../relay/conversations/kept-files.ts'
import type { RelayParts } from '../relay/relay-parts.ts'
import { deleteAtVendor, deleteAtVendorSoon } from './read.ts'

/** Deletes a file for its owner. Throws `file_unknown`. */
export async function deleteOwnFile(app: RelayParts, file: Pick<KeptFile, 'id' | 'userId'>): Promise<void> {
  deleteAtVendorSoon(app, await app.keptFiles.remove(file))
}

/** Deletes a file of a user for an admin. Throws `file_unknown`, and `user_protected` for users of an equal or higher role. */
export async function deleteFileOfUser(app: RelayParts, caller: Caller, id: string): Promise<void> {
  const removed = await change(app, caller, async (within, report) => {
    const found = within.selectFrom('files').innerJoin('users', 'users.id', 'files.user_id').select(['users.id', 'users.role'])
    const owner = (await found.where('files.id', '=', id).executeTakeFirst()) ?? fail('file_unknown', { id })
    if (owner.id !== caller.id && !mayManage(caller.role, owner.role)) fail('user_protected')
    const file = await app.keptFiles.remove({ id, userId: owner.id }, within)
    const { filename, bytes, channelId } = file
    report({ action: 'file.delete', target: `file:${id}`, before: { user: owner.id, filename, bytes, channel: channelId } })
    return file
  })
  deleteAtVendorSoon(app, removed)
}

const claimedMax = 100

/**
 * Has vendors delete the files that are not wanted any more: deleted ones whose vendor has failed, those of deleted users, and uploads
 * without an end. Forgets those that have expired. Returns how many were deleted.
 */
export async function removeFiles(app: RelayParts, signal: AbortSignal): Promise<number> {
  await app.keptFiles.purge()
  let deleted = 0
  for (;;) {
    const claimed = await app.keptFiles.claimRemoved(claimedMax)
    for (const file of claimed) {
      if (signal.aborted) return deleted
      if (await deleteAtVendor(app, file)) deleted++
    }
    if (claimed.length < claimedMax) return deleted
  }
}

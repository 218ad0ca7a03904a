import type { RelayParts } from '../relay/relay-parts.ts'
import { deleteAtVendor } from './read.ts'

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

import { authenticateCall } from '../relay/admission/authenticate.ts'
import { enterLimits, withinLimits } from '../relay/admission/limits.ts'
import type { ClientExchange } from '../relay/http/client-exchange.ts'
import type { FileCall } from '../relay/http/file-paths.ts'
import type { RelayParts } from '../relay/relay-parts.ts'
import type { Asked } from './asked.ts'
import { fileForms } from './file-form.ts'
import { cancelUpload, completeUpload, openUpload, uploadPart } from './parts.ts'
import { deleteFile, listFiles, readContent, readFile } from './read.ts'
import { sendResumable } from './resumable.ts'
import { requireOn, uploadFile } from './upload.ts'

/**
 * Files that users store at vendors. They pass through this server as they arrive, and only their ids, sizes and places are kept
 * (`relay/conversations/kept-files.ts`): a file belongs to a user and is used by the channel and key that have it. Requests that name a
 * file are not handled here, but in `relay/conversations/named-files.ts`. Files cost nothing. The relay's router passes all calls about
 * files to this function. `sendContent`: how the content of files is sent where some are more than bytes of their vendor.
 */
export async function handleFile(
  app: RelayParts,
  fileCall: FileCall,
  call: ClientExchange,
  sendContent: typeof readContent = readContent,
): Promise<void> {
  requireOn(app)
  const caller = await authenticateCall(app, fileCall, call)
  const lease = app.limits.leaseOf(caller, call.id)
  const asked = { call, caller, lease }
  const run = async () => {
    const group = caller.tokenGroup || caller.userGroup
    if (lease) await enterLimits(app, call, lease, { group, inputTokens: 0, outputTokens: 0 })
    await answer(app, fileCall, asked, sendContent)
  }
  if (lease) await withinLimits(app, { call, lease }, run)
  else await run()
}

function answer(app: RelayParts, fileCall: FileCall, asked: Asked, sendContent: typeof readContent): Promise<void> {
  const form = fileForms[fileCall.dialect]
  switch (fileCall.action) {
    case 'upload':
      return form.dialect === 'gemini' ? sendResumable(app, form, asked) : uploadFile(app, form, asked)
    case 'list':
      return listFiles(app, form, asked)
    case 'read':
      return readFile(app, form, asked, fileCall.id)
    case 'content':
      return sendContent(app, form, asked, fileCall.id)
    case 'delete':
      return deleteFile(app, form, asked, fileCall.id)
    case 'open':
      return openUpload(app, asked)
    case 'part':
      return uploadPart(app, asked, fileCall.id)
    case 'complete':
      return completeUpload(app, asked, fileCall.id)
    case 'cancel':
      return cancelUpload(app, asked, fileCall.id)
  }
}

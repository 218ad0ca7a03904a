import { fail } from '../../../base/lib/failure.ts'
import { either, eitherObject, refuseTwoSpellings } from '../gemini-generate/members.ts'
import { readModel, requireArray } from '../read-request.ts'
import { arrayAt, isObject, type JsonObject, textAt, type WireFormat } from '../wire-format.ts'
import { directFacts } from './direct-facts.ts'
import { imagesWithoutTokens } from './images.ts'

/**
 * Images by Imagen, as Google's own clients request them. A price per call is charged for each returned image; filtered images have a
 * reason instead. Source: reference of the Gemini API and protocols notes 2.5, read 2026-11.
 */
export const geminiPredict: WireFormat = {
  format: 'gemini.predict',
  dialect: 'gemini',

  readRequest(body, path) {
    refuseTwoSpellings(body.parameters, 'parameters.')
    const instances = requireArray(body, 'instances')
    if (!instances.every(isObject)) fail('field_invalid', { field: 'instances', reason: 'every instance must be an object' })
    const model = readModel(path?.model === undefined ? body : { model: path.model })
    const images = instances.length * readCount(body)
    if (images > imagesMax) fail('amount_out_of_range', { field: 'sampleCount' })
    const most = imagesWithoutTokens(images)
    return directFacts(model, { callWeight: 1, callsMax: images, uncounted: most, most })
  },

  promptText: (body) => arrayAt(body, 'instances').map((instance) => (isObject(instance) ? textAt(instance, 'prompt') : '')),
  answerIn: 'predictions',
  billsEntries: true,
  replyModelIn: 'modelVersion',
  readUsage: (reply) => imagesWithoutTokens(arrayAt(reply, 'predictions').filter(isMade).length),
  replyText: () => '',
  stream: null,
}

/** The vendor's default. */
const usualCount = 4
const imagesMax = 16

function readCount(body: JsonObject): number {
  const count = either(eitherObject(body, 'parameters') ?? {}, 'sampleCount') ?? usualCount
  if (typeof count !== 'number' || !Number.isInteger(count) || count < 1) fail('amount_out_of_range', { field: 'sampleCount' })
  return count
}

function isMade(prediction: unknown): boolean {
  return isObject(prediction) && prediction.raiFilteredReason === undefined
}

import { defineFormat } from '../define-format.ts'
import type { LimitedModel } from '../output-limit.ts'
import { inputNamesOf } from './models.ts'
import { readReply, readStreamEvents } from './reply-read.ts'
import { writeRequest } from './request-write.ts'

/**
 * Language models on Replicate, for upstreams only, as one synchronous prediction: its stream has another URL, which would require
 * a second request. Source: Replicate's interface reference and protocols notes 2.1, read 2026-11.
 */
export const replicatePredictFormat = defineFormat({
  name: 'replicate.predict',
  codec: { inlines: [], writeRequest, readReply, readEvents: readStreamEvents },
  outputLimit: {
    places: (_body, { model }: LimitedModel) => [['input', inputNamesOf(model).outputLimit]],
    least: (_body, { model }: LimitedModel) => inputNamesOf(model).outputLimitMin,
  },
})

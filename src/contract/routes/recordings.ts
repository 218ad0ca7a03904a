import { z } from 'zod'
import {
  ownRecordedCall,
  ownRecording,
  ownRecordingInput,
  recordedCall,
  recordingRule,
  recordingRuleInput,
} from '../entities/recording.ts'
import { idParams } from '../envelope.ts'
import { routes } from '../route.ts'

const callParams = z.object({ request_id: z.string().min(1).max(100) })

export const recordingRoutes = routes({
  'GET /api/recording/rules': {
    access: 'admin',
    summary: 'List which calls are recorded at present',
    reply: z.array(recordingRule),
  },
  'PUT /api/recording/rules': {
    access: 'root',
    summary: 'Record the calls of a token, user or channel, or a share of all, until a time; 0 ends it',
    body: recordingRuleInput,
    reply: z.array(recordingRule),
  },
  'GET /api/recording/self': {
    access: 'user',
    summary: 'Get what is recorded of own calls at present',
    reply: ownRecording,
  },
  'PUT /api/token/:id/recording': {
    access: 'user',
    summary: 'Record the calls of an own token until a time; 0 ends it',
    params: idParams,
    body: ownRecordingInput,
    reply: ownRecording,
  },
  'GET /api/recording/self/:request_id': {
    access: 'user',
    summary: 'Get the recording of an own call: the caller’s side',
    params: callParams,
    reply: ownRecordedCall,
  },
  'GET /api/recording/call/:request_id': {
    access: 'root',
    summary: 'Get the recording of a call with both sides; recorded in the audit log',
    params: callParams,
    reply: recordedCall,
  },
})

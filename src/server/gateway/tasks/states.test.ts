import { describe, expect, it } from 'vitest'
import { nextState, readPercent, statesBefore } from './states.ts'

const now = (status: string, progress = '0%') => ({ status, progress })
const seen = (status: string, progress?: number, failReason = '') => ({ status, progress, failReason })

describe('the state of a task', () => {
  it('goes forward, and never back', () => {
    expect(nextState(now('SUBMITTED'), seen('IN_PROGRESS', 40))).toEqual({
      status: 'IN_PROGRESS',
      progress: '40%',
      failReason: '',
    })
    expect(nextState(now('IN_PROGRESS', '40%'), seen('IN_PROGRESS', 20))?.progress).toBe('40%')
    expect(nextState(now('IN_PROGRESS'), seen('SUBMITTED'))).toBeUndefined()
    expect(nextState(now('MODAL'), seen('SUBMITTED'))?.status).toBe('SUBMITTED')
  })

  it('ends once, with its first result', () => {
    for (const end of ['SUCCESS', 'FAILURE'])
      for (const said of ['SUCCESS', 'FAILURE', 'NOT_START', 'IN_PROGRESS'])
        expect(nextState(now(end), seen(said, 0, 'x'))).toBeUndefined()
    expect(statesBefore('FAILURE')).not.toContain('SUCCESS')
    expect(statesBefore('SUCCESS')).not.toContain('FAILURE')
  })

  it('becomes FAILURE when a reason of failure is reported, unless the task succeeded', () => {
    expect(nextState(now('IN_PROGRESS'), seen('IN_PROGRESS', 3, 'no'))).toEqual({
      status: 'FAILURE',
      progress: '100%',
      failReason: 'no',
    })
    expect(nextState(now('IN_PROGRESS'), seen('SUCCESS', 3, 'warning'))).toEqual({
      status: 'SUCCESS',
      progress: '100%',
      failReason: '',
    })
  })

  it('ignores unknown states, and is 100 percent only at its end', () => {
    expect(nextState(now('IN_PROGRESS', '5%'), seen('FLYING', 400))).toEqual({
      status: 'IN_PROGRESS',
      progress: '99%',
      failReason: '',
    })
    expect([readPercent('47%'), readPercent('47.5 %'), readPercent(3), readPercent('x'), readPercent({})]).toEqual([
      47,
      47,
      3,
      undefined,
      undefined,
    ])
  })
})

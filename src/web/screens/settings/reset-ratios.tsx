import { Button } from '@mantine/core'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { confirm } from '../../ui/dialog/confirm.tsx'
import styles from './settings.module.css'
import { texts } from './texts.ts'

export function ResetRatios() {
  const say = useText(texts)
  const reset = useWrite('POST /api/option/rest_model_ratio', {
    invalidates: ['GET /api/option/'],
    success: say('resetRatiosDone'),
  })

  async function ask(): Promise<void> {
    const sure = await confirm({
      title: say('resetRatios'),
      body: say('resetRatiosBody'),
      confirmLabel: say('resetRatios'),
      danger: true,
    })
    if (sure) reset.mutate({})
  }

  return (
    <Button variant="subtle" color="red" className={styles.first ?? ''} loading={reset.isPending} onClick={() => void ask()}>
      {say('resetRatios')}
    </Button>
  )
}

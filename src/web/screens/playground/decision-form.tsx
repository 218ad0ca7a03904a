import { ActionIcon, Button, Group, Select, Stack, Textarea } from '@mantine/core'
import { IconArrowUp, IconPlus, IconX } from '@tabler/icons-react'
import { useState } from 'react'
import { useText } from '../../lib/i18n.ts'
import { askDecision } from './ask.ts'
import { newId } from './conversation.ts'
import { DecisionView } from './decision-view.tsx'
import { type Decision, isComplete, type QuestionDraft, questionKinds, writeQuestion } from './decisions.ts'
import styles from './playground.module.css'
import type { Settings } from './settings.ts'
import { texts } from './texts.ts'

interface DecisionFormProps {
  readonly settings: Settings
  /** Whether it can be sent; shows which settings are missing otherwise. */
  readonly isReady: () => boolean
}

interface Asked {
  readonly id: string
  readonly questions: readonly QuestionDraft[]
  /** By the place of the model; undefined while it decides. */
  readonly decided: readonly { readonly model: string; readonly decision: Decision | undefined }[]
}

const blank = (): QuestionDraft => ({ id: newId(), kind: 'predicate', instructions: '', options: '' })

/** The input of a decision, its questions, and what each chosen model has decided. */
export function DecisionForm({ settings, isReady }: DecisionFormProps) {
  const say = useText(texts)
  const [input, setInput] = useState('')
  const [questions, setQuestions] = useState<readonly QuestionDraft[]>(() => [blank()])
  const [asked, setAsked] = useState<Asked>()
  const running = asked?.decided.some(({ decision }) => !decision) === true

  function change(id: string, patch: Partial<QuestionDraft>): void {
    setQuestions((all) => all.map((question) => (question.id === id ? { ...question, ...patch } : question)))
  }

  function send(): void {
    if (!isReady()) return
    const { group, models } = settings
    const id = newId()
    setAsked({ id, questions, decided: models.map((model) => ({ model, decision: undefined })) })
    for (const [lane, model] of models.entries()) {
      void askDecision({ group, model, input: input.trim(), questions: questions.map(writeQuestion) }).then((decision) =>
        setAsked((now) => (now?.id === id ? { ...now, decided: now.decided.with(lane, { model, decision }) } : now)),
      )
    }
  }

  return (
    <section className={styles.chat} aria-label={say('decisions')}>
      <div className={styles.scroller}>
        <Stack gap="lg" className={styles.deciding ?? ''}>
          <Textarea
            label={say('decisionInput')}
            description={say('decisionInputHint')}
            autosize
            minRows={3}
            maxRows={10}
            value={input}
            onChange={(event) => setInput(event.currentTarget.value)}
          />
          {questions.map((question, place) => (
            <QuestionFields
              key={question.id}
              question={question}
              number={place + 1}
              onChange={(patch) => change(question.id, patch)}
              onRemove={questions.length > 1 ? () => setQuestions(questions.toSpliced(place, 1)) : undefined}
            />
          ))}
          <Group justify="space-between">
            <Button variant="default" leftSection={<IconPlus size={16} />} onClick={() => setQuestions([...questions, blank()])}>
              {say('questionAdd')}
            </Button>
            <Button
              leftSection={<IconArrowUp size={16} />}
              loading={running}
              disabled={input.trim() === '' || !questions.every(isComplete)}
              onClick={send}
            >
              {say('decide')}
            </Button>
          </Group>
          {asked?.decided.map(({ model, decision }, lane) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the place is that of the model, which may be chosen twice
            <DecisionView key={`${asked.id}-${lane}`} model={model} decision={decision} questions={asked.questions} />
          ))}
        </Stack>
      </div>
    </section>
  )
}

interface QuestionFieldsProps {
  readonly question: QuestionDraft
  readonly number: number
  readonly onChange: (patch: Partial<QuestionDraft>) => void
  /** Undefined for the only question. */
  readonly onRemove: (() => void) | undefined
}

function QuestionFields({ question: { kind, instructions, options }, number, onChange, onRemove }: QuestionFieldsProps) {
  const say = useText(texts)
  return (
    <fieldset className={styles.decisionQuestion}>
      <legend>{say('questionNumber', { number })}</legend>
      <Group align="end" wrap="nowrap">
        <Select
          flex={1}
          label={say('questionKind')}
          allowDeselect={false}
          value={kind}
          onChange={(next) => onChange({ kind: questionKinds.find((one) => one === next) ?? kind })}
          data={questionKinds.map((value) => ({ value, label: say(value) }))}
        />
        {onRemove && (
          <ActionIcon size={36} aria-label={say('questionRemove', { number })} onClick={onRemove}>
            <IconX size={16} stroke={1.6} />
          </ActionIcon>
        )}
      </Group>
      <Textarea
        label={say('instructions')}
        placeholder={say(`${kind}Example`)}
        autosize
        minRows={1}
        maxRows={6}
        value={instructions}
        onChange={(event) => onChange({ instructions: event.currentTarget.value })}
      />
      {kind !== 'predicate' && (
        <Textarea
          label={say(kind === 'choice' ? 'choices' : 'levels')}
          description={say(kind === 'choice' ? 'choicesHint' : 'levelsHint')}
          autosize
          minRows={2}
          maxRows={10}
          value={options}
          onChange={(event) => onChange({ options: event.currentTarget.value })}
        />
      )}
    </fieldset>
  )
}

"""Table of contents of the models. Django reads it; nobody imports from it."""

from memory.agents.models import (
    Agent,
    Freeze,
    Hold,
    Membership,
    Run,
    RunEnd,
    RunReference,
    Setting,
    Token,
    TokenRevocation,
)
from memory.beliefs.models import (
    Forecast,
    MonitorRun,
    MonitorTally,
    Observation,
    ObservationReach,
    ObservationState,
    ObservationTag,
    RelationLaw,
    Revocation,
    SavedQuery,
)
from memory.calibration.models import (
    Alarm,
    AlarmTurn,
    ForecastState,
    LabelOutcome,
    LabelState,
    LockedReference,
    ProcessRestart,
    SegmentState,
)
from memory.checks.models import CheckRun, Finding, Waiver
from memory.facts.models import (
    Adjudication,
    AttributeSpec,
    ConflictCase,
    Fact,
    FactRect,
    FactState,
    FactTally,
    Retraction,
    Supersession,
)
from memory.interchange.models import ExportRun, ImportedRow, ImportFinding, ImportRun, RestoreRun, StagedRow
from memory.ledger.models import (
    Checkpoint,
    Closing,
    Content,
    Entry,
    Erasure,
    Head,
    Item,
    Name,
    Namespace,
    Node,
    PublicKey,
    Reference,
    Refusal,
    Restoration,
)
from memory.lineage.models import Compilation, CoveredRecord, Derivation, Edge
from memory.records.models import Held, Record, RecordState, Review, Withdrawal
from memory.tombstones.models import (
    BlockVerdict,
    RevivalCondition,
    RevivalEvidence,
    RouteCheck,
    RouteHit,
    Tombstone,
    TombstoneTurn,
)

# isotherm without a compiler at run time: the first stage builds a wheel, the second installs it.
#   docker build -t isotherm .
#   docker run --rm -v "$PWD:/data" isotherm demo

FROM python:3.13-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY native native
COPY src src
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir /wheels/*.whl && rm -rf /wheels \
    && python -c "from isotherm.compiled import core; assert core is not None" \
    && useradd --create-home isotherm
USER isotherm
WORKDIR /data
ENTRYPOINT ["isotherm"]
CMD ["--help"]
